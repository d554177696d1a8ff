/** The live processes of a session, in order of registration: a session lists its own without reading what has ended. */
export const sql = (at: string) => `
create index process_session_live on ${at}process (session, id) where session is not null and ended_at is null;
`
