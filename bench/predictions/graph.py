# SPDX-License-Identifier: MIT
# graph.py NODES ROUNDS: builds a graph of many small objects, and then replaces a tenth of its nodes in each round.
import sys


class Node:
    def __init__(self, number):
        self.number = number
        self.edges = []


nodes = [Node(n) for n in range(int(sys.argv[1]))]
for r in range(int(sys.argv[2])):
    for n in range(len(nodes) // 10):
        i = (n * 7919 + r * 104729) % len(nodes)
        node = Node(i)
        node.edges = [nodes[(i + k) % len(nodes)] for k in range(3)]
        nodes[i] = node
print(len(nodes))
