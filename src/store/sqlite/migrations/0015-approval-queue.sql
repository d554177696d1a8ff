-- The queue of people is in the order of priorities. Requests from before are among those without one.

alter table approval add column priority integer not null default 0;
create index approval_queue on approval (priority desc, place) where state = 'pending';
