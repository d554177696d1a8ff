-- Deletes the uses of the rules of these subjects. They are locked in the order in which commits lock them, before the
-- counters: a commit that counts a use at the same time must not wait for this one, and this one for it.
create or replace function reeve.drop_rule_uses(p_subjects text[]) returns void language plpgsql as
$body$
begin
  perform from reeve.rule_use u where u.subject = any (p_subjects) order by u.id for update;
  if found then
    delete from reeve.rule_use u where u.subject = any (p_subjects);
  end if;
end
$body$;
