-- The server's time in milliseconds since the epoch.
create or replace function reeve.now_ms() returns bigint language sql volatile as
$body$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $body$;
