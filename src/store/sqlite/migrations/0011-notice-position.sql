-- The number of a notice was its `place` and becomes its `position`, also where an inbox names the notices that were taken. Names of
-- consumers are members of objects that no array holds.
alter table notice rename column place to position;
update inbox set body = replace(replace(body, '[{"place":', '[{"position":'), ',{"place":', ',{"position":');
