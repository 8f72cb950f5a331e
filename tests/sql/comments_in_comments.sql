-- An executed comment may begin within another one. The first end ends both.
select 7, /*!01000 1 + /* 8 + */ 2 + */ 4;
select 7, /*!01000 1 + /*!999998 8 + */ 2 + */ 4;
select 7, /*!01000 1 + /*!01000 2 + */ 4;
select 7, /*!01000 1 + /*!01000 8 + */ 2 + */ 4;
select 7, /*!01000 1 + /*!01000 8 + /*!01000 error */ 16 + */ 2 + */ 4;
select 4, /*!999998 1 + /*!01000 8 + */ 2 + */ 4;
