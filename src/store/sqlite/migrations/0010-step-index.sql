-- The number of a workflow's step was `place` and becomes `stepIndex`: in events, in the waits of records, and in the report of a
-- changed workflow. Texts are searched rather than parsed, as in 0009. `,"place":` with these quotes is a member's name, never a part
-- of a string.

-- Nothing that users wrote comes before it.
update event
  set payload = substr(payload, 1, instr(payload, '"place":') - 1) || '"stepIndex":'
    || substr(payload, instr(payload, '"place":') + length('"place":'))
  where type in ('step_ended', 'step_tried', 'child_registered', 'wait_entered')
    and instr(payload, '"place":') > 0;

-- It is the last member, after the value that the wait answered with: the text ends with `,"place":`, digits and a brace.
update event
  set payload = substr(found.head, 1, length(found.head) - length(',"place":')) || ',"stepIndex":'
    || substr(payload, length(found.head) + 1)
  from (
    select position, rtrim(substr(payload, 1, length(payload) - 1), '0123456789') as head from event
    where type = 'wait_left'
  ) as found
  where event.position = found.position and length(found.head) < length(payload) - 1
    and substr(found.head, -length(',"place":')) = ',"place":';

-- The waits of a record come before the members whose names or values are the user's.
update process
  set moving = replace(substr(moving, 1, found.waits_end - 1), ',"place":', ',"stepIndex":') || substr(moving, found.waits_end)
  from (
    select id, min(
      coalesce(nullif(instr(moving, ',"signals":'), 0), length(moving) + 1),
      coalesce(nullif(instr(moving, ',"watches":'), 0), length(moving) + 1),
      coalesce(nullif(instr(moving, ',"externalRef":'), 0), length(moving) + 1),
      coalesce(nullif(instr(moving, ',"outcome":'), 0), length(moving) + 1),
      coalesce(nullif(instr(moving, ',"facets":'), 0), length(moving) + 1)
    ) as waits_end
    from process where ended_at is null and instr(moving, ',"place":') > 0
  ) as found
  where process.id = found.id;

-- The report is the result of the outcome, in the record and in the event.
update process
  set moving = replace(moving, '"outcome":{"status":"failed","exitCode":null,"signal":null,"reason":"nondeterminism","source":null,"result":{"place":',
    '"outcome":{"status":"failed","exitCode":null,"signal":null,"reason":"nondeterminism","source":null,"result":{"stepIndex":')
  where end_status = 'failed' and kind = 'workflow' and id in (
    select process from event where type = 'ended' and substr(payload, 1, 107) =
      '{"status":"failed","exitCode":null,"signal":null,"reason":"nondeterminism","source":null,"result":{"place":'
  );
update event
  set payload = '{"status":"failed","exitCode":null,"signal":null,"reason":"nondeterminism","source":null,"result":{"stepIndex":'
    || substr(payload, 108)
  where type = 'ended' and substr(payload, 1, 107) =
    '{"status":"failed","exitCode":null,"signal":null,"reason":"nondeterminism","source":null,"result":{"place":'
    and process in (select id from process where kind = 'workflow');
