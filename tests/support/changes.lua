-- The transaction of sysbench's oltp_write_only, by an application that connects again when its connection is lost.
--
-- sysbench's own way to connect again crashes in MariaDB's client library, which Debian's sysbench uses. Each thread has
-- rows of its own, so that there are no deadlocks: any error comes from a change of the primary.

local ffi = require("ffi")
require("oltp_common")

ffi.cdef[[int usleep(unsigned int microseconds);]]

function prepare_statements()
end

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
end

function thread_done()
   if con then
      con:disconnect()
   end
end

local function row()
   local count = math.floor(sysbench.opt.table_size / sysbench.opt.threads)
   return sysbench.tid * count + sysbench.rand.uniform(1, count)
end

local function transaction()
   local t, id = sysbench.rand.uniform(1, sysbench.opt.tables), row()
   con:query("BEGIN")
   con:query(string.format("UPDATE sbtest%d SET k=k+1 WHERE id=%d", t, row()))
   con:query(string.format("UPDATE sbtest%d SET c='%s' WHERE id=%d", t, sysbench.rand.string(string.rep("#", 119)), row()))
   con:query(string.format("DELETE FROM sbtest%d WHERE id=%d", t, id))
   con:query(string.format("INSERT INTO sbtest%d (id, k, c, pad) VALUES (%d, %d, 'c', 'pad')", t, id, sysbench.rand.uniform(1, 1000)))
   con:query("COMMIT")
end

-- Errors that MariaDB's clients give for a lost connection.
local lost = {[2002] = true, [2003] = true, [2006] = true, [2013] = true, [1053] = true}

-- Ends when a transaction is committed, because sysbench counts the calls.
function event()
   while true do
      if con == nil then
         local is_connected, connection = pcall(drv.connect, drv)
         if is_connected then
            con = connection
         else
            ffi.C.usleep(20000)
         end
      else
         local is_done, problem = pcall(transaction)
         if is_done then
            return
         end
         if not lost[con.sql_errno] then
            error(problem, 0)
         end
         con:disconnect()
         con = nil
      end
   end
end
