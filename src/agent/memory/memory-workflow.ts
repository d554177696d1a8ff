import { messageOf } from '../../base/error-text.ts'
import { ReeveError, RefusedError } from '../../core/errors.ts'
import { waitsFor } from '../../core/memory/memory-job.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { StepOptions, WorkflowContext } from '../../verbs/workflow-function.ts'
import { MemoryJob, type MemoryJobParts } from './memory-job.ts'

/** Trouble of the store is no failure of the job: it ends, and the step runs again. */
const ON_TROUBLE: StepOptions = {
  retry: {
    times: 20,
    backoffMs: 500,
    maxBackoffMs: 30_000,
    when: (error) => error instanceof ReeveError && !(error instanceof RefusedError),
  },
}

/** How often the changes are decided again, because a file has changed meanwhile. */
const MAX_ROUNDS = 3

/**
 * The workflow `@reeve/memory`: extracts the lasting facts of the part of a session that is not in memory yet, and joins them into the
 * files of memory. A crash repeats the step that it interrupted. A failure changes no file, and is an alert of the agent.
 */
export async function runMemoryJob(
  context: WorkflowContext,
  parts: MemoryJobParts,
): Promise<{ readonly files: readonly string[] }> {
  const job = new MemoryJob(parts, context.pid)
  await endOf(context, waitsFor(context.input))
  const part = await context.step('look', () => job.look(), ON_TROUBLE)
  if (part === null) return { files: [] }
  try {
    const notes = await context.step(
      'extract',
      ({ abortSignal }) => job.extract(part, abortSignal),
      ON_TROUBLE,
    )
    const files = notes.length === 0 ? [] : await written(context, job, notes)
    await context.step('note', () => job.updated(part.through, files), ON_TROUBLE)
    return { files }
  } catch (error) {
    if (!context.abortSignal.aborted)
      await context.step('report', () => job.failed(messageOf(error)), ON_TROUBLE)
    throw error
  }
}

/** Jobs of one agent do not work at once. One that was pruned has ended. */
async function endOf(context: WorkflowContext, before: Pid | null): Promise<void> {
  if (before === null) return
  try {
    await context.wait(before)
  } catch (error) {
    if (!(error instanceof RefusedError) || error.code !== 'unknown_pid') throw error
  }
}

async function written(
  context: WorkflowContext,
  job: MemoryJob,
  notes: readonly string[],
): Promise<readonly string[]> {
  for (let round = 1; ; round++) {
    const changes = await context.step(
      'consolidate',
      ({ abortSignal }) => job.consolidate(notes, abortSignal),
      ON_TROUBLE,
    )
    if (changes.length === 0) return []
    const answer = await context.step('write', () => job.write(changes), ON_TROUBLE)
    if (answer.type === 'written') return answer.files
    if (round === MAX_ROUNDS)
      throw new Error(`Its files were changed by others ${MAX_ROUNDS} times while they were consolidated.`)
  }
}
