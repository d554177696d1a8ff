-- The kind `engine` becomes `workflow`, and the status `ready` becomes `queued`. Texts are searched rather than parsed: a record
-- that is no JSON must not stop the migration of the others. Each search finds the field of the record itself first, because
-- everything that users wrote comes later in the text or has its quotes escaped.

update reeve.event e
  set payload = regexp_replace(payload, '"kind":"engine","spec":\{"engine":', '"kind":"workflow","spec":{"workflow":')
  from reeve.process p
  where p.pid = e.pid and p.kind = 'engine' and e.seq = 1;
update reeve.event
  set payload = regexp_replace(payload, '","kind":"engine",', '","kind":"workflow",')
  where type = 'child_registered';
update reeve.process set kind = 'workflow' where kind = 'engine';
update reeve.process
  set moving = regexp_replace(moving, ',"status":"ready","revision":', ',"status":"queued","revision":')
  where ended_at is null;
update reeve.process
  set moving = regexp_replace(moving, '"pausedFrom":"ready"', '"pausedFrom":"queued"')
  where ended_at is null;
update reeve.holder set body = replace(body, '{"kind":"engine",', '{"kind":"workflow",');
