# SPDX-License-Identifier: MIT
# Description: a Crystal program that collects; its collector has how often.
class Node
  def initialize(@left : Node?, @right : Node?)
  end
end

def tree(depth) : Node
  depth == 0 ? Node.new(nil, nil) : Node.new(tree(depth - 1), tree(depth - 1))
end

kept = tree(16)
200.times { tree(12) }
2.times { GC.collect }
puts "gc_no=#{GC.prof_stats.gc_no}"
exit 7
