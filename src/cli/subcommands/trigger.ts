import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { type NamedAct, printChanged, printLine, runNamedAction } from '../named-actions.ts'
import { lastFailure } from '../print/last-occurrence.ts'
import { jsonIn, PROCESS_FIELDS, processIn } from '../process-options.ts'
import { refuseEmptyEdit } from '../stray-options.ts'
import { subcommand } from '../subcommand.ts'
import { printDeliveries, printTrigger, printTriggers } from '../trigger/print-triggers.ts'
import { policyIn, sourceIn, TRIGGER_OPTIONS, type TriggerOptions } from '../trigger/source-options.ts'
import { warnOfUnknownEvents } from '../trigger/unknown-events.ts'
import { UsageError } from '../usage-error.ts'

const ACTIONS = ['add', 'list', 'show', 'deliveries', 'run', 'pause', 'resume', 'edit', 'remove'] as const
type Action = Exclude<(typeof ACTIONS)[number], 'list'>
const SHOWN_DELIVERIES = 20

type Given = TriggerOptions & {
  readonly 'rotate-secret': boolean
  readonly note: string | undefined
  readonly body: string | undefined
  readonly lines: number | undefined
}

export const trigger = subcommand({
  name: 'trigger',
  summary: 'Runs commands, agents and workflows when something happens',
  usage: [
    'trigger add <name> --on <event> | --files <glob> | --webhook [options] -- <program> [argument]…',
    'trigger list',
    'trigger show <name>',
    'trigger deliveries <name> [-n <count>]',
    'trigger run <name> [--body <json>]',
    'trigger pause <name> [--note <text>]',
    'trigger resume <name>',
    'trigger edit <name> [--rotate-secret] [options] [-- <program> [argument]…]',
    'trigger remove <name>',
  ],
  completes: ACTIONS,
  options: {
    ...TRIGGER_OPTIONS,
    'rotate-secret': { type: 'flag', about: 'edit: replace the secret of the webhook' },
    note: { type: 'text', value: 'text', about: 'pause: why' },
    body: { type: 'text', value: 'json', about: 'run: the body of the test delivery' },
    lines: { type: 'number', short: 'n', value: 'count', about: 'deliveries: how many; 20 by default' },
  },
  fields: {
    source: 'on',
    'source.on': 'on',
    'source.outcome': 'outcome',
    'source.kind': 'of-kind',
    'source.name': 'of-name',
    'source.label': 'of-label',
    'source.session': 'of-session',
    'source.folder': 'folder',
    'source.glob': 'files',
    'source.debounceMs': 'debounce',
    'source.filter': 'match',
    'source.maxBytes': 'max-bytes',
    'source.maxPerMinute': 'max-per-minute',
    overlap: 'overlap',
    pauseOnFailure: 'pause-on-failure',
    note: 'note',
    limit: 'lines',
    body: 'body',
    ...PROCESS_FIELDS,
    rotateSecret: 'rotate-secret',
  },
  about: `
What happened is in the variable REEVE_TRIGGER of a command, as JSON; in the input of a workflow; behind the goal of an agent. Each
occurrence is a process in the session trigger:<name>, and runs with the rights that you have now. The secret of a webhook is printed
once.`,
  examples: [
    ["reeve trigger add tell --on ended --outcome failed --of-name build -- notify-send 'build failed'", ''],
    ["reeve trigger add import --files '*.csv' --folder inbox -c ./import.sh", 'when files in inbox change'],
    ['reeve trigger add deploy --webhook --match ref=refs/heads/main -- ./deploy.sh', 'on signed requests'],
    ['reeve trigger deliveries deploy', 'what happened, and what became of it'],
    [`reeve trigger run deploy --body '{"ref":"refs/heads/main"}'`, 'now, as a test'],
  ],
  run: (context) =>
    runNamedAction(context, {
      noun: 'trigger',
      actions: ACTIONS,
      example: 'deploy',
      load: async (reeve, page) => (await reeve.triggers(page)).triggers,
      printList: printTriggers,
      act,
    }),
})

async function act({ context, reeve, action, id, argv }: NamedAct<Action, Given>): Promise<number> {
  const { print, options } = context
  switch (action) {
    case 'add':
      return changed(context, await add(context, reeve, id, argv))
    case 'edit':
      return changed(context, await edit(context, reeve, id, argv))
    case 'show': {
      const shown = await reeve.trigger({ trigger: id })
      if (print.isJson) print.json(shown)
      else printTrigger(context, shown, await lastFailure(reeve, shown))
      return 0
    }
    case 'deliveries': {
      const limit = options.lines ?? SHOWN_DELIVERIES
      const { deliveries } = await reeve.deliveries({ trigger: id, limit })
      if (print.isJson) print.jsonList(deliveries)
      else printDeliveries(context, deliveries)
      return 0
    }
    case 'run': {
      const { body } = options
      const { record } = await reeve.runTrigger({
        trigger: id,
        ...(body === undefined ? {} : { body: jsonIn(body, '--body') }),
      })
      return printLine(context, record, record.pid)
    }
    case 'pause': {
      const { note } = options
      return printChanged(
        context,
        await reeve.pauseTrigger({ trigger: id, ...(note === undefined ? {} : { note }) }),
      )
    }
    case 'resume':
      return printChanged(context, await reeve.resumeTrigger({ trigger: id }))
    case 'remove':
      return printLine(context, await reeve.removeTrigger({ trigger: id }), id)
  }
}

async function add(
  context: Context<Given>,
  reeve: ReeveVerbs,
  id: string,
  argv: readonly string[],
): Promise<OutputOf<'addTrigger'>> {
  const source = sourceIn(context)
  if (source === undefined)
    throw new UsageError('What starts it?', "Give --on, --files or --webhook, like --files '*.csv'.")
  const process = await processIn(context, argv)
  if (process === undefined)
    throw new UsageError('What does it run?', 'Give a program behind --, or --shell, --agent or --workflow.')
  const added = await reeve.addTrigger({ trigger: id, source, process, ...policyIn(context.options) })
  await warnOfUnknownEvents(context)
  return added
}

async function edit(
  context: Context<Given>,
  reeve: ReeveVerbs,
  id: string,
  argv: readonly string[],
): Promise<OutputOf<'editTrigger'>> {
  const known = (await reeve.trigger({ trigger: id })).source
  const source = sourceIn(context, known)
  const process = await processIn(context, argv)
  const request = {
    trigger: id,
    ...(source === undefined ? {} : { source }),
    ...(process === undefined ? {} : { process }),
    ...policyIn(context.options),
    ...(context.options['rotate-secret'] ? { rotateSecret: true } : {}),
  }
  refuseEmptyEdit(request, 'Give an option, like --overlap queue, or a program behind --.')
  const edited = await reeve.editTrigger(request)
  await warnOfUnknownEvents(context)
  return edited
}

/** Prints a new secret, which no later answer has. */
function changed(context: Context<Given>, answer: OutputOf<'addTrigger'>): number {
  const { print } = context
  if (print.isJson) {
    print.json(answer)
    return 0
  }
  const { trigger: shown, secret } = answer
  printChanged(context, shown)
  if (secret === null || shown.source.type !== 'webhook') return 0
  print.line(secret)
  print.aside(`Requests go to ${shown.source.path}, signed with this secret. It is not shown again.`)
  return 0
}
