-- Members with the same key.
select json_value('{"k": [1,2,3], "k":123}', '$.k'), json_query('{"k":123, "k": [1,2,3]}', '$.k');
select json_extract('{"a":1,"a":2}','$.a'), json_extract('{"a":1,"a":2}','$.*'), json_extract('{"a":1,"a":{"b":3}}','$.a.b');
select json_exists('{"a":1,"a":{"b":3}}','$.a.b'), json_length('{"a":{"b":{"d":1}}, "a":{"c":{"d":1, "j":2}}}', '$.a[0][0][0].c');
select json_insert('{"a":1,"a":2}','$.a',4), json_set('{"a":1,"a":2}','$.a',4), json_remove('{"a":1,"a":2}','$.a');
-- A value that is found in several ways is found once.
select json_extract('[1]', '$**[0]'), json_extract('[1]', '$**[0][0]'), json_extract('[1,[2,3]]','$**[0]'), json_extract('[[[1]]]','$**[0]');
select json_value('[{"foo": 1},"bar"]', '$[*][0]');
select json_query('[{"a":1}]','$[*]');
select json_query('{"a":[1]}', concat('$', repeat('.x', 40)));
-- A scalar as an array of itself.
select json_insert('1','$[0]',4), json_insert('1','$[1]',4), json_insert('1','$[0][0]',4), json_set('1','$[0]',4), json_insert('{"a":1}','$.a[0]',4), json_insert('{"a":1}','$.a[last]',4);
select json_array_insert('true','$',1), json_array_insert('true','$[0]',1);
-- NULL as a document.
select json_merge_patch('{"a":"b"}', null, '[1,2,3]', '{"c":null,"d":"e"}'), json_merge_patch(null, '{"a":1}'), json_merge_patch(null, '"x"');
select json_merge_patch('a', null);
select json_merge_preserve('a', null), json_merge('1', null);
select json_merge('a', '1');
select json_detailed('[]'), json_detailed('["1"]'), json_detailed('[["1"],[1,2],{"a":[]}]');
select json_depth('[10, {"a": 20}]'), json_length('[]');
