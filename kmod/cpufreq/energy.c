// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sources of power in the order of trust: measured on this machine, the energy
 * model, the voltages of OPPs (dynamic power is proportional to f * V^2), _PSS
 * of the firmware. A source counts only if it knows every OPP. Without a table
 * there is only the first: the energy model of cppc_cpufreq has costs, which
 * rank cores, and no power.
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
#include "model/measured.h"
#include "model/opp.h"

typedef u32 (*power_fn)(struct cpufreq_policy *policy, u32 khz, void *data);

/* Serialises the measured power; nothing is taken inside. */
static DEFINE_MUTEX(measured_lock);
/* By the first CPU of a policy; kept while policies come and go. */
static DEFINE_PER_CPU(struct gchint_measured *, measured_power);
static DEFINE_PER_CPU(unsigned int, measured_gen);

static u32 measured_opp_power(struct cpufreq_policy *policy, u32 khz,
			      void *data)
{
	return gchint_measured_opp_power(data, khz);
}

static u32 em_opp_power(struct cpufreq_policy *policy, u32 khz, void *data)
{
	return gchint_em_power(policy->cpu, khz, data);
}

static u32 voltage_opp_power(struct cpufreq_policy *policy, u32 khz, void *data)
{
	struct device *dev = get_cpu_device(policy->cpu);
	struct dev_pm_opp *opp;
	u64 millivolts;

	/* The OPP library logs an error for a device without a table. */
	if (!dev || dev_pm_opp_get_opp_count(dev) <= 0)
		return 0;
	opp = dev_pm_opp_find_freq_exact(dev, khz * 1000ul, true);
	if (IS_ERR(opp))
		return 0;
	millivolts = dev_pm_opp_get_voltage(opp) / 1000;
	dev_pm_opp_put(opp);
	/* 5 GHz at 2 V is 2 * 10^7: fits both. */
	return div_u64(millivolts * millivolts * (khz / 1000), 1000);
}

/* Is the power of every OPP known? */
static bool opps_fill(struct gchint_opps *opps, struct cpufreq_policy *policy,
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

#ifdef CONFIG_ACPI
/* An entry of _PSS: MHz, mW, and four fields not used here. */
static u32 pss_state_power(const union acpi_object *state, u32 khz)
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

static u32 pss_opp_power(struct cpufreq_policy *policy, u32 khz, void *data)
{
	const union acpi_object *states = data;
	unsigned int i;
	u32 power = 0;

	for (i = 0; !power && i < states->package.count; i++)
		power = pss_state_power(&states->package.elements[i], khz);
	return power;
}

static bool opps_fill_pss(struct gchint_opps *opps,
			  struct cpufreq_policy *policy)
{
	struct acpi_buffer buffer = { ACPI_ALLOCATE_BUFFER, NULL };
	struct device *dev = get_cpu_device(policy->cpu);
	acpi_handle handle = dev ? ACPI_HANDLE(dev) : NULL;
	bool known;

	if (!handle ||
	    ACPI_FAILURE(acpi_evaluate_object_typed(handle, "_PSS", NULL,
						    &buffer,
						    ACPI_TYPE_PACKAGE)))
		return false;
	known = opps_fill(opps, policy, pss_opp_power, buffer.pointer);
	ACPI_FREE(buffer.pointer);
	return known;
}
#else
static bool opps_fill_pss(struct gchint_opps *opps,
			  struct cpufreq_policy *policy)
{
	return false;
}
#endif

/* The driver's frequencies, or evenly spaced points; without power. */
static void opps_fill_frequencies(struct gchint_opps *opps,
				  struct cpufreq_policy *policy)
{
	if (policy->freq_table) {
		opps_fill(opps, policy, NULL, NULL);
		return;
	}
	gchint_opps_init(opps, policy->cpuinfo.max_freq);
	gchint_opps_fill_range(opps, policy->cpuinfo.min_freq);
	gchint_opps_finish(opps);
}

/* Figures of another driver, or of another highest frequency, do not match. */
static bool opps_use_measured(struct gchint_opps *opps,
			      struct cpufreq_policy *policy)
{
	unsigned int first = cpumask_first(policy->related_cpus);
	struct gchint_measured *measured;
	bool known = false;
	u32 i, at;

	mutex_lock(&measured_lock);
	measured = per_cpu(measured_power, first);
	if (measured) {
		opps_fill_frequencies(opps, policy);
		known = !gchint_measured_check(measured, opps, &at);
	}
	if (known && policy->freq_table) {
		known = opps_fill(opps, policy, measured_opp_power, measured);
	} else if (known) {
		gchint_opps_init(opps, policy->cpuinfo.max_freq);
		opps->any = true;
		for (i = 0; i < measured->nr; i++)
			gchint_opps_add(opps, measured->opp[i].khz,
					measured->opp[i].power, 0);
		gchint_opps_finish(opps);
	}
	mutex_unlock(&measured_lock);
	return known;
}

/*
 * For as long as the module is loaded. May sleep. Tables that are filled do not
 * change: see gchint_actuator_set_power().
 */
int gchint_energy_set_power(struct cpufreq_policy *policy,
			    struct gchint_measured *measured,
		       enum gchint_measured_error *fault, u32 *at)
{
	unsigned int first = cpumask_first(policy->related_cpus);
	struct gchint_opps *opps;

	*fault = GCHINT_MEASURED_OK;
	if (measured) {
		opps = kmalloc(sizeof(*opps), GFP_KERNEL);
		if (!opps)
			return -ENOMEM;
		opps_fill_frequencies(opps, policy);
		*fault = gchint_measured_check(measured, opps, at);
		kfree(opps);
	}
	if (*fault)
		return -EINVAL;
	mutex_lock(&measured_lock);
	swap(per_cpu(measured_power, first), measured);
	WRITE_ONCE(per_cpu(measured_gen, first),
		   per_cpu(measured_gen, first) + 1);
	mutex_unlock(&measured_lock);
	kfree(measured);
	return 0;
}

/* Changes whenever measured power is set or removed. */
unsigned int gchint_energy_generation(struct cpufreq_policy *policy)
{
	unsigned int first = cpumask_first(policy->related_cpus);

	return READ_ONCE(per_cpu(measured_gen, first));
}

/* Measured power while every CPU is idle. Return: whether it is known. */
bool gchint_energy_idle_power(struct cpufreq_policy *policy, u32 *microwatts)
{
	unsigned int first = cpumask_first(policy->related_cpus);
	struct gchint_measured *measured;
	bool known;

	mutex_lock(&measured_lock);
	measured = per_cpu(measured_power, first);
	known = measured && measured->idle_known;
	if (known)
		*microwatts = measured->idle;
	mutex_unlock(&measured_lock);
	return known;
}

/* After the last policy. */
void gchint_energy_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kfree(per_cpu(measured_power, cpu));
}

/*
 * Without a frequency table the OPPs are points. Boost frequencies are included
 * while boost is off: they are above the limits then. May sleep.
 */
const struct gchint_energy_source *
gchint_energy_fill(struct gchint_opps *opps, struct cpufreq_policy *policy)
{
	static const struct gchint_energy_source
		measured = { "measured", true, true },
		model = { "em", true },
		scale = { "em-scale", false },
		volt = { "opp-voltage", false },
		pss = { "acpi-pss", true },
		assumed = { "assumed", false },
		none = { "none", false };
	bool microwatts = false;

	if (opps_use_measured(opps, policy))
		return &measured;
	if (!policy->freq_table) {
		opps_fill_frequencies(opps, policy);
		return opps->powered ? &assumed : &none;
	}
	if (opps_fill(opps, policy, em_opp_power, &microwatts))
		return microwatts ? &model : &scale;
	if (opps_fill(opps, policy, voltage_opp_power, NULL))
		return &volt;
	if (opps_fill_pss(opps, policy))
		return &pss;
	opps_fill(opps, policy, NULL, NULL);
	return &none;
}

/*
 * Would another governor than schedutil end Energy-Aware Scheduling? That needs
 * CPUs that differ, and energy models. Modules cannot see if it was switched
 * off, or if CPUs have SMT siblings.
 */
bool gchint_energy_aware(void)
{
	unsigned int cpu;

	if (gchint_util_is_homogeneous())
		return false;
	for_each_online_cpu(cpu)
		if (!gchint_em_exists(cpu))
			return false;
	return true;
}
