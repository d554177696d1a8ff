-- A row of `audit` is a link of the chain, with one entry or several; `position` is that of its last entry. A row of before has one.
drop function if exists reeve.append_audit(bigint[], text);
