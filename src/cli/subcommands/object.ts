import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../../base/error-text.ts'
import { didYouMean } from '../../base/nearest-name.ts'
import { ReeveError } from '../../core/errors.ts'
import type { InputOf, OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import type { Options } from '../options.ts'
import { neutral } from '../print/neutral.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  type: { type: 'text', value: 'type', about: 'put: the type of a new object; artifact if left out' },
  mutable: { type: 'flag', about: 'put: a new object may get further versions' },
  expect: { type: 'number', value: 'version', about: 'put: the version that it replaces' },
  file: { type: 'text', value: 'path', about: 'put: the content, instead of a text' },
  at: { type: 'number', value: 'version', about: 'show, diff: a version instead of the newest' },
  as: { type: 'text', value: 'name', about: 'link: the name in the view of the other process' },
  rights: { type: 'text', value: 'list', about: 'link: read, write, link, materialize, diff' },
  live: { type: 'flag', about: 'link: the handle shows new versions' },
  policy: { type: 'text', value: 'policy', about: 'merge: results, all_new or none' },
} as const

type ObjectContext = Context<Options<typeof OPTIONS>>
type Act = (context: ObjectContext, args: readonly string[]) => Promise<number>
type Shown = OutputOf<'object'>['object']

const ACTS: Readonly<Record<string, Act>> = {
  list,
  show,
  put,
  history,
  diff,
  link,
  revoke,
  release,
  merge,
}
const ACTIONS = Object.keys(ACTS)

export const object = subcommand({
  name: 'object',
  summary: 'Shows and changes the objects of processes: their versioned results',
  usage: [
    'object list <process> [<prefix>]',
    'object show [--at <version>] <process> <name>',
    'object put [options] <process> <name> <text>',
    'object history <process> <name>',
    'object diff [--at <version>] <process> <name>',
    'object link [options] <process> <name> <other process>',
    'object revoke <handle>',
    'object release <process> <name>',
    'object merge [--policy <policy>] <parent> <ended child>',
  ],
  completes: ACTIONS,
  options: OPTIONS,
  about:
    'Each process has a namespace, and a view of it. A handle shows an object to another process of the tree, with some rights, until it is revoked.',
  examples: [
    ['reeve object list coder', 'what the view of a process shows'],
    ['reeve object put --type plan --mutable coder plan "1. look  2. fix"', 'version 1'],
    ['reeve object put --expect 1 coder plan "1. fix"', 'version 2'],
    ['reeve object link --rights read coder plan reviewer', 'prints the handle'],
  ],
  async run(context) {
    const [action = '', ...rest] = context.args
    const act = Object.hasOwn(ACTS, action) ? ACTS[action] : undefined
    if (act === undefined)
      throw new UsageError(
        action === ''
          ? 'reeve object needs an action.'
          : `reeve object does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    return act(context, rest)
  },
})

async function list(context: ObjectContext, args: readonly string[]): Promise<number> {
  const { print } = context
  const [pid, prefix = ''] = needed(args, 1, 2, 'object list <process> [<prefix>]')
  const reeve = await context.acting()
  const objects: Shown[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const page: OutputOf<'objects'> = await reeve.objects({
      pid: pid ?? '',
      prefix,
      limit: 1_000,
      ...(after === undefined ? {} : { after }),
    })
    objects.push(...page.objects)
    after = page.next
  }
  if (print.isJson) print.jsonList(objects)
  else
    print.table(
      [
        { title: 'NAME', flexible: true },
        { title: 'TYPE' },
        { title: 'VERSION' },
        { title: 'BYTES' },
        { title: 'WRITTEN BY' },
        { title: 'RIGHTS' },
      ],
      objects.map((one) =>
        [one.name, one.type, versionText(one), `${one.bytes}`, one.writer.pid, one.rights.join(' ')].map(
          (text) => ({ text }),
        ),
      ),
    )
  return 0
}

async function show(context: ObjectContext, args: readonly string[]): Promise<number> {
  const { print, options } = context
  const [pid = '', name = ''] = needed(args, 2, 2, 'object show <process> <name>')
  const version = options.at === undefined ? {} : { version: options.at }
  const found = await (await context.acting()).object({ pid, name, ...version })
  if (print.isJson) {
    print.json(found)
    return 0
  }
  const { object: one, text, data, isCut } = found
  const { bold, dim } = print.colours
  print.line(
    `${bold(one.name)} ${dim(`${one.type}, version ${versionText(one)}, ${one.bytes} bytes, by ${one.writer.pid}, ${one.oid}`)}`,
  )
  if (text !== undefined) print.line(neutral(text))
  else print.line(dim(`(no text: --json has it as Base64, ${data?.length ?? 0} characters)`))
  if (isCut) print.line(dim('(it goes on)'))
  return 0
}

async function put(context: ObjectContext, args: readonly string[]): Promise<number> {
  const { print, options, around } = context
  const [pid = '', name = '', ...texts] = needed(
    args,
    2,
    Number.POSITIVE_INFINITY,
    'object put <process> <name> <text>',
  )
  if (texts.length > 0 === (options.file !== undefined))
    throw new UsageError('An object needs a text, or --file.', 'Give one of them.')
  const content =
    options.file === undefined ? { text: texts.join(' ') } : contentOf(resolve(around.cwd, options.file))
  const { expect } = options
  const isNew = expect === undefined || expect === 0
  const answer = await (await context.acting()).putObject({
    pid,
    name,
    ...content,
    ...(isNew ? { type: (options.type ?? 'artifact') as InputOf<'putObject'>['type'] & string } : {}),
    ...(isNew && options.mutable ? { mutable: true } : {}),
    ...(expect === undefined ? {} : { expect }),
  })
  if (print.isJson) print.json(answer)
  else {
    const { type, object: one } = answer
    print.line(`${type === 'put' ? 'Put' : 'Unchanged:'} ${one.oid}, version ${one.version}`)
  }
  return 0
}

async function history(context: ObjectContext, args: readonly string[]): Promise<number> {
  const { print } = context
  const [pid = '', name = ''] = needed(args, 2, 2, 'object history <process> <name>')
  const { versions } = await (await context.acting()).objectHistory({ pid, name })
  if (print.isJson) print.jsonList(versions)
  else
    print.table(
      [{ title: 'VERSION' }, { title: 'WRITTEN' }, { title: 'BY' }, { title: 'BYTES' }, { title: 'HASH' }],
      versions.map(({ version, at, writer, bytes, hash }) =>
        [`${version}`, new Date(at).toISOString(), writer.pid, `${bytes}`, hash.slice(0, 12)].map((text) => ({
          text,
        })),
      ),
    )
  return 0
}

async function diff(context: ObjectContext, args: readonly string[]): Promise<number> {
  const { print, options } = context
  const [pid = '', name = ''] = needed(args, 2, 2, 'object diff <process> <name>')
  const to = options.at === undefined ? {} : { to: options.at }
  const found = await (await context.acting()).diffObject({ pid, name, ...to })
  if (print.isJson) print.json(found)
  else {
    print.line(`version ${found.from.version} → ${found.to.version}`)
    if (found.text !== '') print.line(neutral(found.text))
    if (found.isCut) print.line(print.colours.dim('(a part is left out)'))
  }
  return 0
}

async function link(context: ObjectContext, args: readonly string[]): Promise<number> {
  const { print, options } = context
  const [pid = '', name = '', to = ''] = needed(args, 3, 3, 'object link <process> <name> <other process>')
  const { as, rights, live } = options
  const answer = await (await context.acting()).linkObject({
    pid,
    name,
    to,
    ...(as === undefined ? {} : { as }),
    ...(rights === undefined
      ? {}
      : { rights: rights.split(/[\s,]+/) as InputOf<'linkObject'>['rights'] & {} }),
    live: live === true,
  })
  if (print.isJson) print.json(answer)
  else print.line(answer.handle)
  return 0
}

async function revoke(context: ObjectContext, args: readonly string[]): Promise<number> {
  const { print } = context
  const [handle = ''] = needed(args, 1, 1, 'object revoke <handle>')
  const answer = await (await context.acting()).revokeObject({ handle })
  if (print.isJson) print.json(answer)
  else print.line(`Revoked ${answer.handle}`)
  return 0
}

async function release(context: ObjectContext, args: readonly string[]): Promise<number> {
  const { print } = context
  const [pid = '', name = ''] = needed(args, 2, 2, 'object release <process> <name>')
  const answer = await (await context.acting()).releaseObject({ pid, name })
  if (print.isJson) print.json(answer)
  else print.line(`Released ${answer.object.name}`)
  return 0
}

async function merge(context: ObjectContext, args: readonly string[]): Promise<number> {
  const { print, options } = context
  const [pid = '', from = ''] = needed(args, 2, 2, 'object merge <parent> <ended child>')
  const policy =
    options.policy === undefined
      ? {}
      : { policy: options.policy as InputOf<'mergeObjects'>['policy'] & string }
  const answer = await (await context.acting()).mergeObjects({ pid, from, ...policy })
  if (print.isJson) print.json(answer)
  else {
    const { merged, skipped, conflicts } = answer
    for (const { name, version } of merged) print.line(`merged    ${name}, version ${version}`)
    for (const { name, reason } of skipped) print.line(`skipped   ${name} (${reason})`)
    for (const { name, reason } of conflicts) print.line(`conflict  ${name} (${reason})`)
    if (merged.length + skipped.length + conflicts.length === 0) print.line('The child wrote no objects.')
  }
  return answer.conflicts.length === 0 ? 0 : 1
}

function versionText({ version, mutable }: Pick<Shown, 'version' | 'mutable'>): string {
  return mutable ? `${version}` : `${version}, immutable`
}

function needed(args: readonly string[], least: number, most: number, usage: string): readonly string[] {
  if (args.length >= least && args.length <= most) return args
  throw new UsageError(`This is not reeve ${usage}.`, `Write: reeve ${usage}`)
}

function contentOf(path: string): { readonly text: string } | { readonly data: string } {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    throw new ReeveError('not_found', `${path} cannot be read: ${messageOf(error)}.`, 'Name a file.', {
      cause: error,
    })
  }
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) ? { text } : { data: bytes.toString('base64') }
}
