-- `review_until` is when a person is asked instead of the reviewer of a request.

alter table reeve.approval add column review_until bigint;
create index approval_review on reeve.approval (review_until, place) where state = 'pending' and review_until is not null;
