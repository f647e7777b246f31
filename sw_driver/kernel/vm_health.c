// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* devlink health of a card.
 *
 * Reporter `card`: in error from the time when the registers read all ones, until the driver is
 * unbound.
 * Its diagnosis has the number of refused settings of each egress, and the last refusal. They are
 * no errors of the card: the lane continues with the settings of before.
 */
#include "vm_devlink.h"

static void vm_health_tell(struct work_struct *work)
{
	struct vm_devlink *about = container_of(work, struct vm_devlink, work);
	struct vm_card *card = about->card;

	if (vm_card_is_gone(card) && !about->told_gone) {
		about->told_gone = true;
		devlink_health_report(about->of_card, vm_error_text(VM_ERROR_GONE), NULL);
	}
}

static int vm_health_diagnose(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
			      struct netlink_ext_ack *extack)
{
	struct vm_card *card = devlink_health_reporter_priv(reporter);
	struct vm_why why;
	u32 i, count;

	devlink_fmsg_string_pair_put(fmsg, "state", vm_card_is_gone(card) ? vm_error_text(VM_ERROR_GONE) : "answers");
	devlink_fmsg_arr_pair_nest_start(fmsg, "lanes");
	for (i = 0; i < card->reprs; i++) {
		count = vm_repr_refused(card->repr[i], &why);
		devlink_fmsg_obj_nest_start(fmsg);
		devlink_fmsg_u32_pair_put(fmsg, "lane", card->repr[i]->engine->index);
		if (card->repr[i]->engine->egresses > 1)
			devlink_fmsg_u32_pair_put(fmsg, "egress", card->repr[i]->lane.egress);
		devlink_fmsg_u32_pair_put(fmsg, "refused", count);
		devlink_fmsg_string_pair_put(fmsg, "last", why.text);
		devlink_fmsg_obj_nest_end(fmsg);
	}
	devlink_fmsg_arr_pair_nest_end(fmsg);
	return 0;
}

static const struct devlink_health_reporter_ops of_card = { .name = "card", .diagnose = vm_health_diagnose };

int vm_health_register(struct vm_card *card)
{
	struct vm_devlink *about = card->about;

	spin_lock_init(&about->lock);
	INIT_WORK(&about->work, vm_health_tell);
	about->of_card = devlink_health_reporter_create(card->devlink, &of_card, 0, card);
	return PTR_ERR_OR_ZERO(about->of_card);
}

void vm_health_unregister(struct vm_card *card)
{
	devlink_health_reporter_destroy(card->about->of_card);
}

void vm_devlink_changed(struct vm_card *card)
{
	struct vm_devlink *about = card->about;

	if (!about)
		return;
	spin_lock(&about->lock);
	if (about->running)
		schedule_work(&about->work);
	spin_unlock(&about->lock);
}

static void vm_health_run(struct vm_devlink *about, bool running)
{
	spin_lock(&about->lock);
	about->running = running;
	spin_unlock(&about->lock);
}

void vm_devlink_start(struct vm_card *card)
{
	vm_health_run(card->about, true);
	vm_devlink_changed(card);
}

void vm_devlink_stop(struct vm_card *card)
{
	vm_health_run(card->about, false);
	cancel_work_sync(&card->about->work);
}
