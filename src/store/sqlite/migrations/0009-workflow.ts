/**
 * The kind `engine` becomes `workflow`, and the status `ready` becomes `queued`. Texts are searched rather than parsed: a record
 * that is no JSON must not stop the migration of the others. Each search finds the field of the record itself first, because
 * everything that users wrote comes later in the text or has its quotes escaped.
 */
export const sql = `
${replaceFirst('event', 'payload', '"kind":"engine","spec":{"engine":', '"kind":"workflow","spec":{"workflow":')}
  and seq = 1 and process in (select id from process where kind = 'engine');
${replaceFirst('event', 'payload', '","kind":"engine",', '","kind":"workflow",')}
  and type = 'child_registered';
update process set kind = 'workflow' where kind = 'engine';
${replaceFirst('process', 'moving', ',"status":"ready","revision":', ',"status":"queued","revision":')}
  and ended_at is null;
${replaceFirst('process', 'moving', '"pausedFrom":"ready"', '"pausedFrom":"queued"')}
  and ended_at is null;
update holder set body = replace(body, '{"kind":"engine",', '{"kind":"workflow",');
`

/** An update that still needs its last conditions. */
function replaceFirst(table: string, column: string, old: string, now: string): string {
  const at = `instr(${column}, '${old}')`
  return `update ${table} set ${column} = substr(${column}, 1, ${at} - 1) || '${now}' || substr(${column}, ${at} + ${old.length})
  where ${at} > 0`
}
