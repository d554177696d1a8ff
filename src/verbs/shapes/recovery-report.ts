import * as z from 'zod'

const pids = z.array(z.string())

/** The processes that a recovery checked, by result. */
export const recoveryReport = z.strictObject({
  checked: pids,
  adopted: pids,
  rerun: pids,
  completed: pids,
  abandoned: pids,
  left: pids,
})
