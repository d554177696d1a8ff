import { didYouMean } from '../base/nearest-name.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import type { Context } from './context.ts'
import { UsageError } from './usage-error.ts'

const PAGE = 1_000

interface NamedActions<Action extends string, Options, Shown> {
  /** Of the subcommand, and of what it acts on. */
  readonly noun: string
  readonly actions: readonly (Action | 'list')[]
  /** A name, as an example for people. */
  readonly example: string
  /** The next page. */
  load(
    reeve: ReeveVerbs,
    page: { readonly limit: number; readonly after?: string },
  ): Promise<readonly Shown[]>
  printList(context: Context<Options>, all: readonly Shown[]): void
  act(asked: NamedAct<Action, Options>): Promise<number>
}

export interface NamedAct<Action extends string, Options> {
  readonly context: Context<Options>
  readonly reeve: ReeveVerbs
  readonly action: Action
  readonly id: string
  /** Behind the name. */
  readonly argv: readonly string[]
}

/** Runs `reeve <noun> <action> <name>`; `list`, which is the default, takes no name. */
export async function runNamedAction<Action extends string, Options, Shown extends { readonly id: string }>(
  context: Context<Options>,
  { noun, actions, example, load, printList, act }: NamedActions<Action, Options, Shown>,
): Promise<number> {
  const [asked = 'list', id, ...argv] = context.args
  const action = actions.find((known) => known === asked)
  if (action === undefined)
    throw new UsageError(
      `reeve ${noun} does not know ${asked}.${didYouMean(asked, actions)}`,
      `It knows ${actions.join(', ')}.`,
    )
  const reeve = await context.acting()
  if (isList(action)) {
    const all = await allOf((page) => load(reeve, page))
    if (context.print.isJson) context.print.jsonList(all)
    else printList(context, all)
    return 0
  }
  if (id === undefined)
    throw new UsageError(`reeve ${noun} ${action} needs the name of a ${noun}.`, `For example: ${example}`)
  return act({ context, reeve, action, id, argv })
}

function isList(action: string): action is 'list' {
  return action === 'list'
}

async function allOf<Shown extends { readonly id: string }>(
  load: (page: { readonly limit: number; readonly after?: string }) => Promise<readonly Shown[]>,
): Promise<readonly Shown[]> {
  const found: Shown[] = []
  for (;;) {
    const after = found.at(-1)?.id
    const page = await load({ limit: PAGE, ...(after === undefined ? {} : { after }) })
    found.push(...page)
    if (page.length < PAGE) return found
  }
}

/** What a change has made of it: the name, and whether it is paused. `more`: a line for one that is not. */
export function printChanged(
  { print }: Pick<Context, 'print'>,
  shown: { readonly id: string; readonly paused: { readonly note: string | null } | null },
  more?: () => string | undefined,
): number {
  const { id, paused } = shown
  if (print.isJson) {
    print.json(shown)
    return 0
  }
  print.line(id)
  const line = paused === null ? more?.() : `${id} is paused${paused.note === null ? '' : `: ${paused.note}`}`
  if (line !== undefined) print.aside(line)
  return 0
}

/** The answer as JSON, or a line for people. */
export function printLine({ print }: Pick<Context, 'print'>, answer: object, line: string): number {
  if (print.isJson) print.json(answer)
  else print.line(line)
  return 0
}
