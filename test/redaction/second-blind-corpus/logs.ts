import {
  ALNUM,
  BASE64,
  HEX,
  hide,
  type Leak,
  leak,
  PASSWORD,
  random,
  URL_SAFE,
} from '../blind-corpus/fake.ts'

const logged = (text: string): Leak => leak('log', text)
const said = (text: string): Leak => leak('prose', text)
const pass = (length = 14): string => hide(random(length, PASSWORD))
const key = (length = 40): string => hide(random(length, ALNUM))

/** Secrets in build logs, framework logs, and sentences. */
export const loggedSecrets: readonly Leak[] = [
  logged(
    `2026-02-11T09:14:02.1184Z ##[group]Run ./deploy.sh\n2026-02-11T09:14:02.1190Z env:\n2026-02-11T09:14:02.1191Z   DEPLOY_PASSWORD: ${pass()}`,
  ),
  logged(`+ echo 'Using token ${key(40)}'`),
  logged(`Step 7/12 : ENV DB_PASSWORD=${pass(16)} PORT=3000\n ---> Running in 3f1c2b7a90de`),
  logged(`[Pipeline] sh\n+ export NEXUS_PASSWORD=${pass(16)}\n+ mvn -B deploy`),
  logged(
    `Started POST "/login" for 10.0.0.8\n  Parameters: {"user"=>{"email"=>"mira@acme.dev", "password"=>"${pass(12)}"}, "commit"=>"Log in"}`,
  ),
  logged(
    `DEBUG django.db.backends: (0.002) INSERT INTO api_keys (owner, api_key) VALUES ('mira', '${key(40)}'); args=(...)`,
  ),
  logged(
    `sqlalchemy.workflow.Workflow [generated in 0.00011s] {'email': 'mira@acme.dev', 'password_hash': 'pbkdf2:sha256:600000$${random(16, ALNUM)}$${hide(random(64, HEX))}'}`,
  ),
  logged(`prisma:query UPDATE "User" SET "refreshToken" = '${key(64)}' WHERE id = 7`),
  logged(`ALTER USER shop WITH PASSWORD '${pass(16)}';`),
  logged(`CREATE USER 'etl'@'%' IDENTIFIED BY '${pass(16)}';`),
  logged(
    `INFO  o.s.b.a.s.UserDetailsServiceAutoConfiguration\n\nUsing generated security password: ${hide('5f2c9a1e-77b0-4c0d-9e61-b3d8f0a4c21e')}\n`,
  ),
  logged(`[Note] A temporary password is generated for root@localhost: ${hide(random(12, `${ALNUM}!#%+`))}`),
  logged(
    `Error: request failed { headers: { authorization: 'Bearer ${hide(random(40, URL_SAFE))}', accept: 'application/json' } }`,
  ),
  logged(`panic: dial failed: options=map[password:${pass(14)} user:etl]`),
  logged(`WARN config: unknown field "apikey" (value "${key(32)}") in /etc/acme.toml`),
  logged(
    `System.Exception: Login failed\n   ConnectionString: 'Host=db;Username=app;Password=${hide(random(16, ALNUM))};Pooling=true'`,
  ),
  said(`The admin password is ${pass(12)}, please change it after the first login.`),
  said(`I set the password to "${pass(14)}" for the staging database.`),
  said(`Initial root password: ${pass(16)}`),
  said(`You can log in with user admin and password ${pass(12)} at https://acme.dev`),
  said(`Here is your API key: \`${key(40)}\`. It will not be shown again.`),
  said(`Use the secret key ${hide(random(44, BASE64))} to sign requests.`),
]
