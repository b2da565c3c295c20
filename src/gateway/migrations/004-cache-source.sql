-- Where the provider was that answered: an answer is not given once that is another place. Of those
-- from before nobody knows.
delete from gateway.cache;
alter table gateway.cache add column source text not null default '';
