# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A guest's first stage, for the scripts that source this: busybox and the modules that a kernel of
# Debian must load to find a disk, in the order of loading.

# depmod, modprobe, mke2fs and others are outside of a user's PATH on Debian.
export PATH="$PATH:/usr/sbin:/sbin"

# stage DIR KERNEL RELEASE: DIR is recreated; KERNEL was unpacked by tests/board/fetch
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
