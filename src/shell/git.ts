import type { Token } from './token.ts'

/** Configuration that starts nothing. Any other key may name a program: a pager, an editor, an alias, a hook, a filter. */
const HARMLESS_CONFIG =
  /^(user\.(name|email|signingkey)|color\.[\w.]+|core\.(quotepath|autocrlf|eol|abbrev|filemode|ignorecase|longpaths|precomposeunicode)|advice\.\w+|init\.defaultbranch|commit\.gpgsign|tag\.gpgsign|pull\.(rebase|ff)|push\.(default|autosetupremote)|merge\.(ff|conflictstyle)|rebase\.(autostash|autosquash)|fetch\.prune|diff\.(renames|algorithm|context|mnemonicprefix|noprefix)|log\.\w+|status\.\w+|gc\.auto|safe\.directory)$/i

/** Settings that start nothing, although others of the same key would. */
const HARMLESS_SETTING = /^(core\.(editor|pager)|sequence\.editor)=(true|:|cat)$/i

/** Subcommands whose options or arguments run commands. */
const RUNS_COMMANDS = new Map<string, RegExp>([
  ['rebase', /^(-[a-zA-Z]*x|--ex)/],
  ['bisect', /^run$/],
  ['submodule', /^foreach$/],
  ['difftool', /^/],
  ['mergetool', /^/],
  ['filter-branch', /^/],
  ['instaweb', /^/],
  ['send-email', /^/],
  ['for-each-repo', /^/],
  ['hook', /^/],
  ['credential', /^/],
  ['shell', /^/],
  ['grep', /^(-[a-zA-Z]*O|--open)/],
  ['clone', /^(-[a-zA-Z]*[cu]|--(c|up|te)|ext::|fd::)/],
  ['fetch', /^(--up|ext::|fd::)/],
  ['pull', /^(--up|ext::|fd::)/],
  ['ls-remote', /^(--up|--ex|ext::|fd::)/],
  ['push', /^(--rec|--ex|ext::|fd::)/],
  ['archive', /^(--ex|--remote)/],
  ['init', /^--te/],
  ['remote', /^(ext|fd)::/],
])

/** Options of git itself that take the next argument as their value, for the search of the subcommand. */
const VALUED = new Set(['-C', '--git-dir', '--work-tree', '--namespace', '--super-prefix', '--attr-source'])

/** Why this git command may run another program than git, if so. Unknown subcommands (aliases) are left to subcommand.ts. */
export function gitRunsCommand(args: readonly Token[]): string | undefined {
  let i = 0
  for (; i < args.length; i++) {
    const { value, mayBeOption } = args[i]!
    // It may be `-c alias.x=…`.
    if (value === null && mayBeOption) return 'git has arguments that are not literal'
    if (value === null || !value.startsWith('-')) break
    if (value === '-c') {
      const setting = args[++i]?.value ?? ''
      if (!HARMLESS_CONFIG.test(setting.split('=')[0]!) && !HARMLESS_SETTING.test(setting))
        return 'git -c sets a configuration that may run programs'
    } else if (/^-c./.test(value) || value.startsWith('--config-env'))
      return 'git takes a configuration that may run programs'
    else if (value.startsWith('--exec-path=')) return 'git --exec-path runs programs of another folder'
    else if (VALUED.has(value)) i++
  }
  const subcommand = args[i]?.value
  if (subcommand == null) return undefined
  const rest = args.slice(i + 1)
  if (subcommand === 'config') return configRunsCommand(rest)
  const pattern = RUNS_COMMANDS.get(subcommand)
  const runs =
    pattern !== undefined && (pattern.source === '^' || rest.some((token) => mayMatch(token, pattern)))
  return runs ? `git ${subcommand} may run other commands` : undefined
}

function mayMatch({ value, mayBeOption }: Token, pattern: RegExp): boolean {
  return value === null ? mayBeOption : pattern.test(value)
}

/** Reading a configuration is harmless; so is setting one of the keys above. */
function configRunsCommand(args: readonly Token[]): string | undefined {
  const values = args.map(({ value }) => value)
  const names = values.filter((value) => value === null || !value.startsWith('-'))
  const options = values.filter((value) => value?.startsWith('-'))
  const reads = options.some((value) => /^(--get(-all|-regexp|-urlmatch)?|--list|-l)$/.test(value ?? ''))
  const verb = names[0] === 'get' || names[0] === 'list' || names[0] === 'set' ? names[0] : undefined
  const key = verb === undefined ? names[0] : names[1]
  const isRead = reads || verb === 'get' || verb === 'list' || (verb === undefined && names.length === 1)
  const isPlain = !values.includes(null) && !options.some((value) => /^(-e|--ed)/.test(value ?? ''))
  if (isPlain && (isRead || HARMLESS_CONFIG.test(key ?? ''))) return undefined
  return 'git config may set a configuration that runs programs'
}
