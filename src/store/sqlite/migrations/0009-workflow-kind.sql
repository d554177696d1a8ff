-- The kind `engine` becomes `workflow`, and the status `ready` becomes `queued`. Texts are searched rather than parsed: a record
-- that is no JSON must not stop the migration of the others. Each search finds the field of the record itself first, because
-- everything that users wrote comes later in the text or has its quotes escaped.

update event
  set payload = substr(payload, 1, instr(payload, '"kind":"engine","spec":{"engine":') - 1) || '"kind":"workflow","spec":{"workflow":'
    || substr(payload, instr(payload, '"kind":"engine","spec":{"engine":') + length('"kind":"engine","spec":{"engine":'))
  where instr(payload, '"kind":"engine","spec":{"engine":') > 0
    and seq = 1 and process in (select id from process where kind = 'engine');
update event
  set payload = substr(payload, 1, instr(payload, '","kind":"engine",') - 1) || '","kind":"workflow",'
    || substr(payload, instr(payload, '","kind":"engine",') + length('","kind":"engine",'))
  where instr(payload, '","kind":"engine",') > 0
    and type = 'child_registered';
update process set kind = 'workflow' where kind = 'engine';
update process
  set moving = substr(moving, 1, instr(moving, ',"status":"ready","revision":') - 1) || ',"status":"queued","revision":'
    || substr(moving, instr(moving, ',"status":"ready","revision":') + length(',"status":"ready","revision":'))
  where instr(moving, ',"status":"ready","revision":') > 0
    and ended_at is null;
update process
  set moving = substr(moving, 1, instr(moving, '"pausedFrom":"ready"') - 1) || '"pausedFrom":"queued"'
    || substr(moving, instr(moving, '"pausedFrom":"ready"') + length('"pausedFrom":"ready"'))
  where instr(moving, '"pausedFrom":"ready"') > 0
    and ended_at is null;
update holder set body = replace(body, '{"kind":"engine",', '{"kind":"workflow",');
