# SPDX-License-Identifier: MIT
# Times of a doorbell and of an empty ioctl; run in the guest.
# shellcheck shell=sh disable=SC1091,SC2154
. /board/guest.sh
table_mode
"$meter" doorbell "$rounds" 20000 >/tmp/result
