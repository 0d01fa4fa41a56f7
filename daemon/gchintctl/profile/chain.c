// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded call chains. */
#include <stdlib.h>

#include "profile.h"

bool profile_is_kernel(uint64_t address)
{
	return address >> (sizeof(long) * 8 - 1);
}

bool profile_chain_next(struct profile_chain *chain, uint64_t *address)
{
	char *end;
	bool kernel;

	*address = strtoull(chain->text, &end, 16);
	if (end == chain->text)
		return false;
	chain->text = *end ? end + 1 : end;
	kernel = profile_is_kernel(*address);
	*address -= *address && (kernel ? chain->kernel : chain->user);
	chain->kernel = chain->kernel || kernel;
	chain->user = chain->user || !kernel;
	return true;
}
