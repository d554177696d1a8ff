import type { InputOf, OutputOf, ReeveVerbs } from '../verbs/reeve.ts'

export type ProcessFilter = NonNullable<NonNullable<InputOf<'list'>>['filter']>
export type Listed = OutputOf<'list'>['processes'][number]

const PAGE = 1_000

/** Reads all pages of processes, up to `most`. `extras` are the fields that `list` gives only on request. */
export async function listProcesses(
  reeve: ReeveVerbs,
  filter: ProcessFilter,
  most = Number.POSITIVE_INFINITY,
  extras: { readonly ports?: boolean; readonly budgets?: boolean; readonly reveal?: boolean } = {},
): Promise<Listed[]> {
  const found: Listed[] = []
  let after: string | null = null
  do {
    const limit = Math.min(PAGE, Math.max(1, most - found.length))
    const page: OutputOf<'list'> = await reeve.list({
      filter,
      limit,
      ...extras,
      ...(after === null ? {} : { after }),
    })
    found.push(...page.processes)
    after = page.next
  } while (after !== null && found.length < most)
  return found.slice(0, most)
}
