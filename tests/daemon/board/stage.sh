# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A guest's first stage, for those who read this: busybox and what a kernel of
# Debian must load to find a disk, listed in the order of loading.

# depmod, modprobe, mke2fs and its kin stand where Debian gives a user no path to.
export PATH="$PATH:/usr/sbin:/sbin"

# stage DIR KERNEL RELEASE: DIR is made anew; KERNEL is what tests/board/fetch unpacked
stage() {
	local m ko
	rm -rf "$1"
	mkdir -p "$1"/{bin,dev,proc,sys,mnt,tmp,modules}
	cp "$(command -v busybox)" "$1/bin/busybox"
	: >"$1/order"
	for m in virtio_pci virtio_blk ext4; do
		modprobe -d "$2" -S "$3" --show-depends "$m" | while read -r _ ko _; do
			[ -f "$ko" ] || continue
			cp "$ko" "$1/modules/"
			echo "${ko##*/}" >>"$1/order"
		done
	done
}

# pack DIR: as an initramfs, to standard output
pack() {
	(cd "$1" && find . | cpio -o -H newc --quiet)
}
