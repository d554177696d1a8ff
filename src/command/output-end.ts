import type { ProcessRecord } from '../core/process/record.ts'

/**
 * Where the output of a command ended, if its keeper saw the end. Bytes behind it are late: descendants wrote them, and no
 * follower waits for them.
 */
export function outputEndIn({ outcome }: ProcessRecord): number | undefined {
  const result = outcome?.result as { outputBytes?: number } | null | undefined
  return result?.outputBytes
}
