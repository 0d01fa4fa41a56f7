# SPDX-License-Identifier: MIT
# Trees on several threads; prints what a test compares with the trace.
def tree(depth)
  depth.zero? ? [] : [tree(depth - 1), tree(depth - 1)]
end

def nodes(tree)
  1 + tree.sum { |t| nodes(t) }
end

before = GC.count
freed = GC.stat(:total_freed_objects)
majors = GC.stat(:major_gc_count)
threads = Array.new(3) do
  Thread.new do
    20.times { raise "tree" unless nodes(tree(12)) == (2 << 12) - 1 }
    "thread=#{Thread.current.native_thread_id}"
  end
end
puts threads.map(&:value)
4.times { GC.start }
GC.compact
puts "thread=#{Thread.current.native_thread_id}"
puts "count=#{GC.count - before} total=#{GC.count}"
puts "freed=#{GC.stat(:total_freed_objects) - freed} majors=#{GC.stat(:major_gc_count) - majors} freed_ever=#{GC.stat(:total_freed_objects)}"
