-- `review_until` is when a person is asked instead of the reviewer of a request.

alter table approval add column review_until integer;
create index approval_review on approval (review_until) where state = 'pending' and review_until is not null;
