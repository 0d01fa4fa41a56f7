<?php
// cycles.php [fork]: makes cycles and collects them; what gc_status() says of it, and of ten
// collections that were asked for how long they took. Ends with 7.
class Node
{
	public $other;
}

function mark(string $what): void
{
	if (getenv('GCHINT_TRACE'))
		file_put_contents(getenv('GCHINT_TRACE'), "== $what\n", FILE_APPEND);
}

function cycles(int $n): void
{
	for ($i = 0; $i < $n; $i++) {
		$a = new Node;
		$b = new Node;
		$a->other = $b;
		$b->other = $a;
	}
}

gc_collect_cycles();
mark('begin');
$before = gc_status();
cycles(300000);
$alive = [];
for ($i = 0; $i < 400000; $i++) {
	$alive[] = new Node;
	$alive[$i]->other = $alive[max($i - 1, 0)];
}
$asked = 0;
// None but those that are asked for from here on.
gc_disable();
for ($i = 0; $i < 10; $i++) {
	// Possible roots: what a count went down of, and not to none.
	foreach ($alive as $node)
		$copy = $node;
	cycles(1000);
	$from = hrtime(true);
	gc_collect_cycles();
	$asked += hrtime(true) - $from;
}
$after = gc_status();
mark('end');
printf("runs=%d freed=%d asked_us=%d\n", $after['runs'] - $before['runs'],
	$after['collected'] - $before['collected'], $asked / 1000);
if (in_array('fork', $argv)) {
	$child = pcntl_fork();
	if (!$child) {
		for ($i = 0; $i < 3; $i++) {
			cycles(100);
			gc_collect_cycles();
		}
		posix_kill(getmypid(), SIGKILL);
	}
	pcntl_waitpid($child, $status);
	printf("child=%d\n", $child);
}
exit(7);
