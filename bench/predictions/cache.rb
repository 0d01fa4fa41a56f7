# SPDX-License-Identifier: MIT
# cache.rb ENTRIES LOOKUPS: a hash of small objects; each lookup makes a few, and one of sixteen replaces an entry.
kept = {}
Integer(ARGV[0]).times { |n| kept[n] = [n, n.to_s, { n => n }] }
sum = 0
Integer(ARGV[1]).times do |n|
  found = [n.to_s, { n => [n] }]
  kept[n % kept.size] = found if n % 16 == 0
  sum += found.size
end
puts sum
