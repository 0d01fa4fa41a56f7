// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sources in the order of trust: what was measured on this machine, the kernel's
 * energy model, the voltages of the OPP table (dynamic power goes with f * V^2),
 * the power that the firmware states in _PSS. A source counts only if it knows
 * every OPP. Drivers without a table have but the first: the energy model that
 * cppc_cpufreq makes is one of costs, which tell cores apart, and not of power.
 */
#include <linux/acpi.h>
#include <linux/cpu.h>
#include <linux/cpufreq.h>
#include <linux/device.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pm_opp.h>
#include <linux/slab.h>

#include "compat/energy_model.h"
#include "compat/util.h"
#include "energy.h"
#include "policy/given.h"
#include "policy/opp.h"

typedef u32 (*power_fn)(struct cpufreq_policy *policy, u32 khz, void *data);

/* Serialises what was given; nothing is taken inside. */
static DEFINE_MUTEX(given_lock);
/* By the first CPU of a policy; stays while policies come and go. */
static DEFINE_PER_CPU(struct gchint_given *, given_of);
static DEFINE_PER_CPU(unsigned int, given_turn);

static u32 power_of_given(struct cpufreq_policy *policy, u32 khz, void *data)
{
	return gchint_given_power(data, khz);
}

static u32 power_of_model(struct cpufreq_policy *policy, u32 khz, void *data)
{
	return gchint_em_power(policy->cpu, khz, data);
}

static u32 power_of_voltage(struct cpufreq_policy *policy, u32 khz, void *data)
{
	struct device *dev = get_cpu_device(policy->cpu);
	struct dev_pm_opp *opp;
	u64 millivolts;

	/* Asked for an OPP, a device without a table writes an error. */
	if (!dev || dev_pm_opp_get_opp_count(dev) <= 0)
		return 0;
	opp = dev_pm_opp_find_freq_exact(dev, khz * 1000ul, true);
	if (IS_ERR(opp))
		return 0;
	millivolts = dev_pm_opp_get_voltage(opp) / 1000;
	dev_pm_opp_put(opp);
	/* 5 GHz at 2 V is 2 * 10^7: room for both. */
	return div_u64(millivolts * millivolts * (khz / 1000), 1000);
}

#ifdef CONFIG_ACPI
/* One entry of _PSS: MHz, mW, and four that do not matter here. */
static u32 power_of_state(const union acpi_object *state, u32 khz)
{
	const union acpi_object *field = state->package.elements;

	if (state->type != ACPI_TYPE_PACKAGE || state->package.count < 2 ||
	    field[0].type != ACPI_TYPE_INTEGER ||
	    field[1].type != ACPI_TYPE_INTEGER ||
	    field[0].integer.value * 1000 != khz ||
	    field[1].integer.value > U32_MAX / 1000)
		return 0;
	return field[1].integer.value * 1000;
}

static u32 power_of_firmware(struct cpufreq_policy *policy, u32 khz, void *data)
{
	const union acpi_object *states = data;
	unsigned int i;
	u32 power;

	for (i = 0; i < states->package.count; i++) {
		power = power_of_state(&states->package.elements[i], khz);
		if (power)
			return power;
	}
	return 0;
}

static union acpi_object *read_firmware(struct cpufreq_policy *policy)
{
	struct acpi_buffer buffer = { ACPI_ALLOCATE_BUFFER, NULL };
	struct device *dev = get_cpu_device(policy->cpu);
	acpi_handle handle = dev ? ACPI_HANDLE(dev) : NULL;

	if (!handle ||
	    ACPI_FAILURE(acpi_evaluate_object_typed(handle, "_PSS", NULL,
						    &buffer,
						    ACPI_TYPE_PACKAGE)))
		return NULL;
	return buffer.pointer;
}

static void free_firmware(union acpi_object *states)
{
	ACPI_FREE(states);
}
#else
static u32 power_of_firmware(struct cpufreq_policy *policy, u32 khz, void *data)
{
	return 0;
}

static void *read_firmware(struct cpufreq_policy *policy)
{
	return NULL;
}

static void free_firmware(void *states)
{
}
#endif

/* Fills in all OPPs; says whether each one's power is known. */
static bool fill(struct gchint_opps *opps, struct cpufreq_policy *policy,
		 power_fn power_of, void *data)
{
	struct cpufreq_frequency_table *pos;
	bool known = true;

	gchint_opps_init(opps, policy->cpuinfo.max_freq);
	cpufreq_for_each_valid_entry(pos, policy->freq_table) {
		u32 power = power_of ? power_of(policy, pos->frequency, data) :
				       0;
		u32 flags = 0;

		if (pos->flags & CPUFREQ_BOOST_FREQ)
			flags |= GCHINT_OPP_BOOST;
		if (pos->flags & CPUFREQ_INEFFICIENT_FREQ)
			flags |= GCHINT_OPP_INEFFICIENT;
		known &= power != 0;
		gchint_opps_add(opps, pos->frequency, power, flags);
	}
	gchint_opps_finish(opps);
	return known && opps->nr;
}

/* As the driver has them, or marks; power is not known. */
static void frequencies(struct gchint_opps *opps, struct cpufreq_policy *policy)
{
	if (policy->freq_table) {
		fill(opps, policy, NULL, NULL);
		return;
	}
	gchint_opps_init(opps, policy->cpuinfo.max_freq);
	gchint_opps_mark(opps, policy->cpuinfo.min_freq);
	gchint_opps_finish(opps);
}

static void fill_marks(struct gchint_opps *opps, struct cpufreq_policy *policy,
		       const struct gchint_given *given)
{
	u32 i;

	gchint_opps_init(opps, policy->cpuinfo.max_freq);
	opps->any = true;
	for (i = 0; i < given->nr; i++)
		gchint_opps_add(opps, given->opp[i].khz, given->opp[i].power, 0);
	gchint_opps_finish(opps);
}

/* A driver that came back with others, or with another highest, has not these. */
static bool fill_given(struct gchint_opps *opps, struct cpufreq_policy *policy)
{
	unsigned int first = cpumask_first(policy->related_cpus);
	struct gchint_given *given;
	bool known = false;
	u32 at;

	mutex_lock(&given_lock);
	given = per_cpu(given_of, first);
	if (given) {
		frequencies(opps, policy);
		known = !gchint_given_check(given, opps, &at);
	}
	if (known && policy->freq_table)
		known = fill(opps, policy, power_of_given, given);
	else if (known)
		fill_marks(opps, policy, given);
	mutex_unlock(&given_lock);
	return known;
}

/**
 * gchint_energy_give - take what was measured of a policy's power
 * @policy: the policy, its rwsem held
 * @given: the figures; ours from now on, if they are taken. NULL: forget them
 * @fault: out: what is wrong with them
 * @at: out: index of the OPP at fault
 *
 * For as long as the module is there. May sleep. Tables that are filled already stay as
 * they are, see gchint_actuator_give().
 *
 * Return: 0, -EINVAL with a fault, or -ENOMEM; nothing has changed then.
 */
int gchint_energy_give(struct cpufreq_policy *policy, struct gchint_given *given,
		       enum gchint_given_fault *fault, u32 *at)
{
	unsigned int first = cpumask_first(policy->related_cpus);
	struct gchint_opps *opps;

	*fault = GCHINT_GIVEN_RIGHT;
	if (given) {
		opps = kmalloc(sizeof(*opps), GFP_KERNEL);
		if (!opps)
			return -ENOMEM;
		frequencies(opps, policy);
		*fault = gchint_given_check(given, opps, at);
		kfree(opps);
	}
	if (*fault)
		return -EINVAL;
	mutex_lock(&given_lock);
	swap(per_cpu(given_of, first), given);
	WRITE_ONCE(per_cpu(given_turn, first), per_cpu(given_turn, first) + 1);
	mutex_unlock(&given_lock);
	kfree(given);
	return 0;
}

/**
 * gchint_energy_turn - how often something was given
 * @policy: the policy that it was given to
 *
 * Return: a number that differs from that before.
 */
unsigned int gchint_energy_turn(struct cpufreq_policy *policy)
{
	return READ_ONCE(per_cpu(given_turn, cpumask_first(policy->related_cpus)));
}

/**
 * gchint_energy_idle - what is drawn while every CPU is idle
 * @policy: a policy whose source of power is what was given
 * @microwatts: out: the figure
 *
 * Return: whether it is known.
 */
bool gchint_energy_idle(struct cpufreq_policy *policy, u32 *microwatts)
{
	unsigned int first = cpumask_first(policy->related_cpus);
	struct gchint_given *given;
	bool known = false;

	mutex_lock(&given_lock);
	given = per_cpu(given_of, first);
	if (given && given->idle_known) {
		*microwatts = given->idle;
		known = true;
	}
	mutex_unlock(&given_lock);
	return known;
}

/**
 * gchint_energy_exit - forget what was given
 *
 * After the last policy.
 */
void gchint_energy_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kfree(per_cpu(given_of, cpu));
}

/**
 * gchint_energy_fill - make the OPP table of a policy
 * @opps: the table
 * @policy: the policy, initialised
 *
 * May sleep. A driver without a frequency table is given marks, and an assumption.
 * Frequencies of boost are in it also while boost is off: then they are above the
 * limits.
 *
 * Return: where its power figures come from.
 */
const struct gchint_energy_source *
gchint_energy_fill(struct gchint_opps *opps, struct cpufreq_policy *policy)
{
	static const struct gchint_energy_source measured = { "measured", true, true };
	static const struct gchint_energy_source model = { "em", true };
	static const struct gchint_energy_source scale = { "em-scale", false };
	static const struct gchint_energy_source volt = { "opp-voltage", false };
	static const struct gchint_energy_source pss = { "acpi-pss", true };
	static const struct gchint_energy_source assumed = { "assumed", false };
	static const struct gchint_energy_source none = { "none", false };
	bool microwatts = false, known = false;
	void *firmware;

	if (fill_given(opps, policy))
		return &measured;
	if (!policy->freq_table) {
		frequencies(opps, policy);
		return opps->powered ? &assumed : &none;
	}
	if (fill(opps, policy, power_of_model, &microwatts))
		return microwatts ? &model : &scale;
	if (fill(opps, policy, power_of_voltage, NULL))
		return &volt;
	firmware = read_firmware(policy);
	if (firmware) {
		known = fill(opps, policy, power_of_firmware, firmware);
		free_firmware(firmware);
	}
	if (known)
		return &pss;
	fill(opps, policy, NULL, NULL);
	return &none;
}

/**
 * gchint_energy_places - does the scheduler place threads by energy under schedutil?
 *
 * Energy-Aware Scheduling wants CPUs that differ and an energy model of each. That
 * it was switched off by hand, or that CPUs have siblings, is not told to modules.
 *
 * Return: whether another governor than schedutil would end that.
 */
bool gchint_energy_places(void)
{
	unsigned int cpu;

	if (gchint_util_alike())
		return false;
	for_each_online_cpu(cpu)
		if (!gchint_em_known(cpu))
			return false;
	return true;
}
