-- The live processes of a session, in order of registration: a session lists them without reading its ended ones.

create index process_session_live on process (session) where session is not null and ended_at is null;
