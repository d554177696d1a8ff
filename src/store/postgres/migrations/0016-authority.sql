-- Rule sets, approvals, uses of rules, and the audit. A commit compares approvals, uses and windows like accounts, and locks
-- them after accounts and before holders. It does not compare rule sets: a lock on a policy that every registration reads
-- would serialise all registrations. Instead a commit that was decided on rule sets compares `meta.authority_epoch`, which
-- every change of a rule set raises, after it has locked the counters. `meta.audit_position` and `meta.audit_hash` are the
-- end of the audit's chain, `meta.audit_start` is the last entry that retention has removed.

create table reeve.rule_set (
  subject text collate "C" primary key,
  body text not null
);

create table reeve.rule_use (
  id text collate "C" primary key,
  subject text collate "C" not null,
  version bigint not null,
  used bigint not null
);
create index rule_use_subject on reeve.rule_use (subject);

create table reeve.approval (
  place bigint generated always as identity primary key,
  id text collate "C" not null unique,
  pid text collate "C" not null,
  version bigint not null,
  state text collate "C" not null,
  person text collate "C",
  expires_at bigint,
  push_at bigint,
  body text not null
);
create index approval_state on reeve.approval (state, place);
create index approval_pid on reeve.approval (pid, place);
create index approval_expiry on reeve.approval (expires_at, place) where state = 'pending' and expires_at is not null;
create index approval_push on reeve.approval (push_at, place) where state = 'pending' and push_at is not null;

create table reeve.audit (
  position bigint primary key,
  at bigint not null,
  body text not null,
  hash text not null
);

create table reeve.audit_window (
  key text collate "C" primary key,
  version bigint not null,
  opened_at bigint not null,
  body text not null
);
create index audit_window_age on reeve.audit_window (opened_at, key);

alter table reeve.meta
  add column authority_epoch bigint not null default 0,
  add column audit_position bigint not null default 0,
  add column audit_hash text not null default '',
  add column audit_start text;

-- It has a parameter more from now on.
drop function if exists reeve.stale_keys(text[], bigint[], text);
