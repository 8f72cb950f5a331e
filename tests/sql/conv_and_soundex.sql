select conv('', 10, 2), conv(' ', 10, 2), conv('x', 10, 2), conv(null, 10, 2), conv('z', 36, 10), bin(''), oct('');
-- Letters beyond ASCII stay as they are.
select soundex('é'), soundex('éa'), soundex('hello'), soundex('日本'), soundex('×b'), soundex('Ébc'), soundex('xéb'), soundex('ñandu'), soundex('');
