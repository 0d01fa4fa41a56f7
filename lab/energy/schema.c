// SPDX-License-Identifier: MIT
/* lab-schema: the tables of a recording, as the daemon makes them. */
#include <stdio.h>

#include "../../daemon/common/schema.h"

int main(void)
{
	printf("PRAGMA application_id = %d; PRAGMA user_version = %d;\n%s\n", SCHEMA_APPLICATION,
	       SCHEMA_VERSION, schema_sql);
	return 0;
}
