import * as z from 'zod'

const pids = z.array(z.string())

/** What a recovery found and did. */
export const recoveryReport = z.strictObject({
  checked: pids,
  adopted: pids,
  rerun: pids,
  completed: pids,
  abandoned: pids,
  left: pids,
})
