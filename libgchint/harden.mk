# SPDX-License-Identifier: MIT
# Flags that make an error hard to exploit, and builds in two directories identical. TOP
# is the tree's root.

# Fortified functions need an optimiser. A distribution's own level, in CPPFLAGS, stays.
HARDEN := $(CPPFLAGS) -fstack-protector-strong -ffile-prefix-map=$(TOP)=. \
	$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),$(if $(findstring _FORTIFY_SOURCE,$(CFLAGS) $(CPPFLAGS))$(findstring -fsanitize,$(CFLAGS)),,-D_FORTIFY_SOURCE=2))
# Indirect branch tracking and shadow stacks, where the machine has them.
HARDEN += $(shell echo | $(CC) -fcf-protection=full -E - >/dev/null 2>&1 && echo -fcf-protection=full)
HARDEN_LINK := -Wl,-z,relro,-z,now,-z,noexecstack
