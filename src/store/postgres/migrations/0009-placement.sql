-- Where a process is executed. Processes of earlier versions have no placement, and are executed anywhere.

alter table reeve.process add column placement text;
