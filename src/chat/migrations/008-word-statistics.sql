-- How common a word is decides how it is looked up: a rare one by the index of words, a common one from the
-- latest message on. The planner knows ten words for each unit of this target, and reads 300 messages for it.
alter table chat.messages alter column words set statistics 50;

-- That takes the time of a few searches, so it is done half as often as elsewhere.
alter table chat.messages set (autovacuum_analyze_scale_factor = 0.2);
