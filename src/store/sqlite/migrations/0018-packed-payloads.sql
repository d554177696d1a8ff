-- A long payload is compressed, in `packed`, and `payload` is empty: see `store/sqlite/packed-text.ts`. The outcome of a process that ends
-- from now on is in its last event alone, and not in `process.moving`. Existing rows stay as they are.

alter table event add column packed blob;
