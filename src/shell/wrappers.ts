/** How a wrapper reads its own arguments before the command that it starts. */
export interface Wrapper {
  /** Short options without a value. */
  readonly flags: string
  /** Short options with a value. */
  readonly valued: string
  /** Long options without a value. */
  readonly longFlags: readonly string[]
  /** Long options with a value, behind `=` or in the next argument. */
  readonly longValued: readonly string[]
  /** Number of arguments between the options and the command. */
  readonly operands: number
  /** Whether variables may be set before the command. */
  readonly assigns?: true
  /** Options with which it looks something up and starts nothing. */
  readonly lookups?: string
  /** Whether it does nothing besides, so that an allow rule need not name it. */
  readonly transparent?: true
  /** Why it needs the right to everything, although the command that it starts is listed. */
  readonly opaque?: string
}

const NO_OPTIONS = { flags: '', valued: '', longFlags: [], longValued: [], operands: 0 } satisfies Wrapper
const TRANSPARENT = { ...NO_OPTIONS, transparent: true } satisfies Wrapper

/** Programs and builtins that start the command behind their own options. `xargs`, `find` and the shells are in unwrap.ts. */
export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  env: {
    ...TRANSPARENT,
    flags: 'i0v',
    valued: 'uCa',
    longFlags: [
      'ignore-environment',
      'null',
      'debug',
      'list-signal-handling',
      'block-signal',
      'default-signal',
      'ignore-signal',
    ],
    longValued: ['unset', 'chdir', 'argv0'],
    assigns: true,
  },
  nohup: TRANSPARENT,
  setsid: { ...TRANSPARENT, flags: 'cfw', longFlags: ['ctty', 'fork', 'wait'] },
  timeout: {
    ...TRANSPARENT,
    flags: 'fpv',
    valued: 'ks',
    longFlags: ['preserve-status', 'foreground', 'verbose'],
    longValued: ['kill-after', 'signal'],
    operands: 1,
  },
  gtimeout: {
    ...TRANSPARENT,
    flags: 'fpv',
    valued: 'ks',
    longFlags: ['preserve-status', 'foreground'],
    operands: 1,
  },
  nice: { ...TRANSPARENT, flags: '0123456789', valued: 'n', longValued: ['adjustment'] },
  ionice: {
    ...TRANSPARENT,
    flags: 't',
    valued: 'cnpPu',
    longFlags: ['ignore'],
    longValued: ['class', 'classdata', 'pid'],
  },
  stdbuf: { ...TRANSPARENT, valued: 'ioe', longValued: ['input', 'output', 'error'] },
  time: {
    ...TRANSPARENT,
    flags: 'pvalhq',
    valued: 'f',
    longFlags: ['portability', 'verbose', 'append', 'quiet'],
    longValued: ['format'],
  },
  command: { ...TRANSPARENT, flags: 'p', lookups: 'vV' },
  builtin: TRANSPARENT,
  exec: { ...TRANSPARENT, flags: 'cl', valued: 'a' },
  busybox: TRANSPARENT,
  toybox: TRANSPARENT,
  sudo: {
    ...NO_OPTIONS,
    flags: 'AbEeHiKklnPSsvV',
    valued: 'ugCDhprtTUR',
    longFlags: [
      'preserve-env',
      'non-interactive',
      'set-home',
      'login',
      'shell',
      'stdin',
      'background',
      'askpass',
    ],
    longValued: [
      'user',
      'group',
      'chdir',
      'prompt',
      'host',
      'chroot',
      'role',
      'type',
      'command-timeout',
      'close-from',
    ],
    assigns: true,
    opaque: 'sudo runs commands as another user',
  },
  doas: { ...NO_OPTIONS, flags: 'Lns', valued: 'Cu', opaque: 'doas runs commands as another user' },
  npx: {
    ...NO_OPTIONS,
    flags: 'yq',
    valued: 'pw',
    longFlags: [
      'yes',
      'no',
      'no-install',
      'quiet',
      'prefer-offline',
      'prefer-online',
      'offline',
      'ignore-existing',
      'workspaces',
    ],
    longValued: ['package', 'workspace', 'prefix', 'cache', 'registry'],
  },
  bunx: { ...NO_OPTIONS, flags: '', longFlags: ['bun', 'silent', 'verbose'] },
  pnpx: NO_OPTIONS,
  corepack: NO_OPTIONS,
  uvx: {
    ...NO_OPTIONS,
    flags: 'q',
    valued: 'p',
    longValued: ['from', 'with', 'python'],
    longFlags: ['quiet', 'isolated'],
  },
}

/** Subcommands that start the command behind them, with the options between. */
export const SUBCOMMAND_WRAPPERS: Readonly<Record<string, Readonly<Record<string, Wrapper>>>> = {
  npm: { exec: WRAPPERS['npx']!, x: WRAPPERS['npx']! },
  pnpm: { exec: { ...NO_OPTIONS, flags: 'r' }, dlx: { ...NO_OPTIONS, longValued: ['package'] } },
  yarn: { exec: NO_OPTIONS, dlx: { ...NO_OPTIONS, flags: 'q', valued: 'p' } },
  uv: {
    run: {
      ...NO_OPTIONS,
      longFlags: ['frozen', 'locked', 'no-sync'],
      longValued: ['with', 'extra', 'group', 'python'],
    },
  },
  poetry: { run: NO_OPTIONS },
  pipenv: { run: NO_OPTIONS },
  pipx: { run: { ...NO_OPTIONS, longValued: ['spec', 'python'] } },
  bundle: { exec: NO_OPTIONS },
  rustup: { run: { ...NO_OPTIONS, longFlags: ['install'], operands: 1 } },
}

/** The usual name of a subcommand by its other names. A rule on either must match, so both are listed. */
export const USUAL_NAMES: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  npm: usualNames(`
    install: i, in, ins, inst, insta, instal, isnt, isnta, isntal, isntall, add
    uninstall: un, unlink, remove, rm, r
    update: up, upgrade, udpate
    test: t, tst
    run: run-script, rum, urn
    exec: x
    config: c
    ci: clean-install, ic
    install-test: it, sit
    install-ci-test: cit
    link: ln
    ls: la, ll, list
    owner: author
    dist-tag: dist-tags
    dedupe: ddp
    search: s, se, find
    view: show, v, info
    rebuild: rb
    login: adduser, add-user
    explain: why
    init: create, innit
    docs: home
    bugs: issues`),
  pnpm: usualNames(`
    install: i
    remove: rm, un, uninstall
    update: up, upgrade
    test: t`),
  git: usualNames('add: stage'),
  docker: usualNames(`
    run: container run
    create: container create
    start: container start
    stop: container stop
    restart: container restart
    kill: container kill
    rm: container rm, container remove
    exec: container exec
    attach: container attach
    cp: container cp
    commit: container commit
    export: container export
    logs: container logs
    ps: container ls, container ps, container list
    inspect: container inspect, image inspect
    pause: container pause
    unpause: container unpause
    rename: container rename
    update: container update
    wait: container wait
    top: container top
    stats: container stats
    port: container port
    diff: container diff
    build: image build, builder build, buildx build, buildx b
    pull: image pull
    push: image push
    tag: image tag
    rmi: image rm, image remove
    images: image ls, image list
    save: image save
    load: image load
    import: image import
    history: image history
    info: system info
    events: system events`),
}

function usualNames(lines: string): ReadonlyMap<string, string> {
  return new Map(
    lines
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [usual = '', others = ''] = line.trim().split(': ')
        return others.split(', ').map((other) => [other, usual] as const)
      }),
  )
}
