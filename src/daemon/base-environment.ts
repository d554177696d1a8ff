type Variables = Readonly<Record<string, string | undefined>>

/** What `login` gives a user before any start-up file runs. The login shell extends it for commands. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The user, the locale and the desktop session: the same for every client of one user. */
const OF_THE_USER = [
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'SSH_AUTH_SOCK',
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
]
/** What Node itself needs: certificates for TLS connections to a store or a collector, and its compile cache. */
const OF_NODE = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_COMPILE_CACHE']
/** `REEVE_…` and `OTEL_…` are settings. */
const PREFIXES = ['LC_', 'XDG_', 'REEVE_', 'OTEL_']
/** These say who a client is, or in which command it runs. */
const OF_THE_CLIENT = ['REEVE_PROCESS', 'REEVE_SESSION', 'REEVE_TOKEN', 'REEVE_URL']

/**
 * The environment of a daemon that a client starts in the background. It is the same whichever client that is: a daemon
 * serves all of them, and its environment is the base of everybody's commands.
 */
export function daemonEnvironment(client: Variables): Record<string, string> {
  const isPostgres = client['REEVE_STORE']?.startsWith('postgres') === true
  const prefixes = isPostgres ? [...PREFIXES, 'PG'] : PREFIXES
  const isKept = (name: string) =>
    !OF_THE_CLIENT.includes(name) &&
    (OF_THE_USER.includes(name) ||
      OF_NODE.includes(name) ||
      prefixes.some((prefix) => name.startsWith(prefix)))
  const kept = Object.entries(client).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isKept(entry[0]),
  )
  return { ...Object.fromEntries(kept), PATH: SYSTEM_PATH }
}
