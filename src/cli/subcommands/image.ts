import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../../base/error-text.ts'
import { didYouMean } from '../../base/nearest-name.ts'
import { ReeveError } from '../../core/errors.ts'
import type { OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import type { Options } from '../options.ts'
import { imageLines } from '../print/image-lines.ts'
import { refuseInside } from '../refuse-inside.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {} as const

type ImageContext = Context<Options<typeof OPTIONS>>
type Act = (context: ImageContext, args: readonly string[]) => Promise<number>

const ACTS: Readonly<Record<string, Act>> = { list, show, register, remove }
const ACTIONS = Object.keys(ACTS)

export const image = subcommand({
  name: 'image',
  summary: 'Lists and registers images, from which agents are made',
  usage: ['image [list]', 'image show <name>[@<hash>]', 'image register <file>…', 'image remove <name>…'],
  completes: ACTIONS,
  options: OPTIONS,
  about:
    'An image names the system prompt, the models, the tools, the MCP servers, the rules and the budget of an agent. Files in .reeve/agents and .claude/agents of a workspace are images, too, once you trust them: reeve trust.',
  examples: [
    ['reeve image', 'those that agents of this folder can be made from'],
    ['reeve image show reviewer', ''],
    ['reeve image register reviewer.yaml', 'for agents of all folders'],
    ['reeve agent --image reviewer "review the last commit"', ''],
  ],
  async run(context) {
    const [action = 'list', ...rest] = context.args
    const act = Object.hasOwn(ACTS, action) ? ACTS[action] : undefined
    if (act === undefined)
      throw new UsageError(
        `reeve image does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    return act(context, rest)
  },
})

function cells(texts: readonly string[]) {
  return texts.map((text) => ({ text }))
}

/** Of a hash, enough to name one version. */
const SHOWN_HASH_CHARS = 12

async function list(context: ImageContext): Promise<number> {
  const { print, around } = context
  const { images } = await (await context.acting()).images({ folder: around.cwd })
  if (print.isJson) print.jsonList(images)
  else
    print.table(
      [{ title: 'IMAGE' }, { title: 'HASH' }, { title: 'FROM' }, { title: 'DESCRIPTION', flexible: true }],
      images.map((one) =>
        cells([one.name, (one.hash ?? '-').slice(0, SHOWN_HASH_CHARS), originOf(one), aboutOf(one)]),
      ),
    )
  return 0
}

function originOf({ source, path, version }: OutputOf<'images'>['images'][number]): string {
  if (source === 'file') return path ?? 'a file'
  return source === 'registered' ? `registered, version ${version ?? 1}` : 'built in'
}

function aboutOf({ state, description, problem }: OutputOf<'images'>['images'][number]): string {
  if (state === 'invalid') return `unusable: ${problem ?? ''}`
  return state === 'untrusted' ? `(not trusted: reeve trust) ${description}` : description
}

async function show(context: ImageContext, args: readonly string[]): Promise<number> {
  const { print, around } = context
  const [name, ...more] = args
  if (name === undefined || more.length > 0)
    throw new UsageError('reeve image show needs the name of an image.', 'reeve image lists them.')
  const found = await (await context.acting()).image({ name, folder: around.cwd })
  if (print.isJson) print.json(found)
  else {
    const { bold, dim } = print.colours
    print.line(
      `${bold(found.image.name)} ${dim(`${found.path ?? found.source.replace('_', ' ')}, hash ${found.hash}`)}`,
    )
    for (const line of imageLines(found.image)) print.line(line)
  }
  return 0
}

async function register(context: ImageContext, files: readonly string[]): Promise<number> {
  const { print, around } = context
  if (files.length === 0)
    throw new UsageError(
      'reeve image register needs a file.',
      'For example: reeve image register reviewer.yaml',
    )
  const reeve = await context.acting()
  for (const file of files) {
    const registered = await reeve.registerImage({ text: textOf(resolve(around.cwd, file)), file })
    if (print.isJson) print.json(registered)
    else
      print.line(
        `Registered ${registered.name}@${registered.hash.slice(0, SHOWN_HASH_CHARS)}, version ${registered.version}`,
      )
  }
  return 0
}

async function remove(context: ImageContext, names: readonly string[]): Promise<number> {
  refuseInside(context, 'reeve image remove')
  const { print } = context
  if (names.length === 0)
    throw new UsageError('reeve image remove needs the name of an image.', 'reeve image lists them.')
  const reeve = await context.acting()
  for (const name of names) {
    const gone = await reeve.removeImage({ name })
    if (print.isJson) print.json(gone)
    else
      print.line(
        `Removed ${gone.name}, with ${gone.versions} ${gone.versions === 1 ? 'version' : 'versions'}`,
      )
  }
  return 0
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ReeveError(
      'not_found',
      `${path} cannot be read: ${messageOf(error)}.`,
      'Name the file of an image.',
      {
        cause: error,
      },
    )
  }
}
