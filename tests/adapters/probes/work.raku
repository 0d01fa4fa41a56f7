# SPDX-License-Identifier: MIT
# Description: a Raku program that collects. Its profile has each collection.
my @kept;
for ^150000 -> $i {
    @kept.push([$i.Str xx 4]);
    @kept = () if $i %% 20000;
}
say "done";
exit 7;
