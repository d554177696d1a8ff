import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { messageOf } from '../../base/error-text.ts'
import { ReeveError } from '../../core/errors.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { refuseInside } from '../refuse-inside.ts'
import { UsageError } from '../usage-error.ts'

type PolicyFile = OutputOf<'policyFile'>

interface FileOptions {
  readonly yes: boolean
  readonly hash: string | undefined
  readonly file: string | undefined
}

/** Of the hash of a file, enough to name one version. */
const SHOWN_HASH_CHARS = 12

/** `reeve policy trust`: shows what would begin to count, and trusts exactly that. */
export async function trust(context: Context<FileOptions>, args: readonly string[]): Promise<number> {
  refuseInside(context, 'reeve policy trust')
  const { print, options } = context
  const reeve = await context.acting()
  const file = await reeve.policyFile({ folder: folderIn(context, args, 'trust') })
  if (!print.isJson) describe(context, file)
  if (file.state === 'trusted' && file.kept.length === 0) {
    if (print.isJson) print.json(file)
    else print.line('It is trusted already.')
    return 0
  }
  const hash = file.hash ?? ''
  const isMeant = options.hash !== undefined && options.hash.length >= 8 && hash.startsWith(options.hash)
  if (options.hash !== undefined && !isMeant)
    throw new ReeveError(
      'conflict',
      `${file.path} has the hash ${short(hash)}, and not ${options.hash}.`,
      'Look at it again with reeve policy trust.',
    )
  if (!options.yes && !isMeant && file.problems.length === 0) {
    if (print.isJson) print.json(file)
    else print.line(`To trust it, run reeve policy trust ${file.folder} --hash ${short(hash)}`)
    return 1
  }
  const trusted = await reeve.trustPolicy({ folder: file.folder, hash: hash || '-' })
  if (print.isJson) print.json(trusted)
  else print.line(`Trusted ${trusted.path}`)
  return 0
}

export async function untrust(context: Context<FileOptions>, args: readonly string[]): Promise<number> {
  refuseInside(context, 'reeve policy untrust')
  const { print } = context
  const reeve = await context.acting()
  const file = await reeve.trustPolicy({ folder: folderIn(context, args, 'untrust'), hash: null })
  if (print.isJson) print.json(file)
  else print.line(`What ${file.path} allows no longer counts. Its asks and denies do.`)
  return 0
}

export async function forget(context: Context<FileOptions>, args: readonly string[]): Promise<number> {
  refuseInside(context, 'reeve policy forget')
  const { print } = context
  const reeve = await context.acting()
  const gone = await reeve.forgetPolicy({ folder: folderIn(context, args, 'forget') })
  if (print.isJson) print.json(gone)
  else print.line(`Forgot ${gone.removed} ${gone.removed === 1 ? 'rule' : 'rules'} of ${gone.path}`)
  return 0
}

/**
 * Makes the daemon read the policy file of the folder that its user is in. Otherwise it reads one when an agent first works there,
 * and an error in a new file would be unknown until then.
 */
export async function lookAtPolicyFile(
  { around, url }: Pick<Context<object>, 'around' | 'url'>,
  reeve: Pick<ReeveVerbs, 'policyFile'>,
): Promise<void> {
  // A daemon at an address may be on another machine.
  if (url !== undefined) return
  try {
    await reeve.policyFile({ folder: around.cwd })
  } catch (error) {
    // There is none, the caller may not read it, or the daemon is older than policy files: this is no answer to its question.
    if (!(error instanceof ReeveError)) throw error
  }
}

/** `reeve policy test`: exit code 1 if the file cannot be used. */
export async function test(context: Context<FileOptions>, args: readonly string[]): Promise<number> {
  const { print, options } = context
  const path = options.file ?? join(folderIn(context, args, 'test'), '.reeve', 'policy.json')
  const checked = await check(await context.acting(), resolve(context.around.cwd, path))
  if (print.isJson) print.json({ path, ...checked })
  else {
    for (const { line, message, remedy } of checked.problems)
      print.line(`${path}:${line}: ${message} ${remedy}`)
    for (const rule of checked.rules) print.line(rule)
    if (checked.problems.length === 0)
      print.line(
        `${path} is good: ${checked.rules.length} ${checked.rules.length === 1 ? 'rule' : 'rules'}, and all examples hold.${untrustedText(checked.rules)}`,
      )
  }
  return checked.problems.length === 0 ? 0 : 1
}

function untrustedText(rules: readonly string[]): string {
  const count = rules.filter((rule) => /^(allow|ask \(requestable\)) /.test(rule)).length
  return count === 0 ? '' : ` ${count} of them count only after reeve policy trust.`
}

async function check(reeve: ReeveVerbs, path: string): Promise<OutputOf<'checkPolicy'>> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new ReeveError('not_found', `${path} cannot be read: ${messageOf(error)}.`, 'Name a policy file.', {
      cause: error,
    })
  }
  return reeve.checkPolicy({ text })
}

function describe({ print }: Pick<Context<object>, 'print'>, file: PolicyFile): void {
  const { bold, dim } = print.colours
  print.line(`${bold(file.path)} ${dim(`${file.state}, hash ${short(file.hash ?? '-')}`)}`)
  for (const { line, message } of file.problems) print.line(`line ${line}: ${message}`)
  list(print, 'Would begin to count:', file.activates)
  if (file.activates.some((rule) => rule.startsWith('allow ')))
    print.line('An allow closes the folder: agents may do there only what a rule allows.')
  list(
    print,
    'Count already:',
    file.rules.filter((rule) => !file.activates.includes(rule)),
  )
  list(print, 'Of earlier versions, would no longer count:', file.kept)
}

function list(print: Context<object>['print'], title: string, rules: readonly string[]): void {
  if (rules.length === 0) return
  print.line(title)
  for (const rule of rules) print.line(`  ${rule}`)
}

function short(hash: string): string {
  return hash.slice(0, SHOWN_HASH_CHARS)
}

function folderIn({ around }: Context<FileOptions>, args: readonly string[], action: string): string {
  const [folder = '.', ...more] = args
  if (more.length > 0)
    throw new UsageError(`reeve policy ${action} takes one folder.`, 'Leave the others out.')
  return resolve(around.cwd, folder)
}
