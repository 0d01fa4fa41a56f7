// SPDX-License-Identifier: MIT
/* lab-schema: prints the tables and views that the daemon creates in a recording. */
#include <stdio.h>

#include "../../daemon/recording/schema.h"

int main(void)
{
	static char sql[SCHEMA_SQL_MAX];

	schema_write_sql(sql);
	printf("PRAGMA application_id = %d; PRAGMA user_version = %d;\n%s\n", SCHEMA_APPLICATION,
	       SCHEMA_VERSION, sql);
	for (int i = 0; i < SCHEMA_VIEWS; i++)
		printf("CREATE VIEW %s AS %s;\n", schema_views[i].name, schema_views[i].select);
	return 0;
}
