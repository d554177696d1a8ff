-- The number of a workflow's step was `place` and becomes `stepIndex`: in events, in the waits of records, and in the report of a
-- changed workflow. Texts are searched rather than parsed, as in 0013. `,"place":` with these quotes is a member's name, never a part
-- of a string.

-- Nothing that users wrote comes before it.
update reeve.event
  set payload = regexp_replace(payload, '"place":', '"stepIndex":')
  where type in ('step_ended', 'step_tried', 'child_registered', 'wait_entered');

-- It is the last member, after the value that the wait answered with.
update reeve.event
  set payload = regexp_replace(payload, ',"place":([0-9]+\})$', ',"stepIndex":\1')
  where type = 'wait_left';

-- The waits of a record come before the members whose names or values are the user's.
update reeve.process p
  set moving = replace(found.head, ',"place":', ',"stepIndex":') || substr(p.moving, length(found.head) + 1)
  from (
    select id, regexp_replace(moving, ',"(signals|watches|externalRef|outcome|facets)":.*', '') as head from reeve.process
    where ended_at is null
  ) as found
  where p.id = found.id and position(',"place":' in found.head) > 0;

-- The report is the result of the outcome, in the record and in the event.
update reeve.process
  set moving = replace(moving, '"outcome":{"status":"failed","exitCode":null,"signal":null,"reason":"nondeterminism","source":null,"result":{"place":',
    '"outcome":{"status":"failed","exitCode":null,"signal":null,"reason":"nondeterminism","source":null,"result":{"stepIndex":')
  where end_status = 'failed' and kind = 'workflow' and pid in (
    select pid from reeve.event where type = 'ended' and starts_with(payload,
      '{"status":"failed","exitCode":null,"signal":null,"reason":"nondeterminism","source":null,"result":{"place":')
  );
update reeve.event e
  set payload = '{"status":"failed","exitCode":null,"signal":null,"reason":"nondeterminism","source":null,"result":{"stepIndex":'
    || substr(payload, 108)
  from reeve.process p
  where p.pid = e.pid and p.kind = 'workflow' and e.type = 'ended' and starts_with(e.payload,
    '{"status":"failed","exitCode":null,"signal":null,"reason":"nondeterminism","source":null,"result":{"place":');
