import {
  ALNUM,
  BASE64,
  base64,
  HEX,
  hide,
  type Leak,
  LOWER_ALNUM,
  leak,
  PASSWORD,
  random,
  URL_SAFE,
} from './fake.ts'

/** Credentials without a shape of their own: only the name beside them, or the command, identifies them. */
export const namedSecrets: readonly Leak[] = [
  ...environments(),
  ...containers(),
  ...configFiles(),
  ...structuredData(),
  ...commandLines(),
  ...logLines(),
  ...screens(),
]

function environments(): Leak[] {
  const traced = hide(random(30, ALNUM))
  return [
    leak('name:env', `NODE_ENV=production\nDB_PASSWORD=${hide(random(16, PASSWORD))}\nDB_HOST=db.internal`),
    leak('name:env', `db_user=app\ndb_password=${hide('gr4nite.Falcon')}\nlog_level=info`),
    leak('name:env', `JWT_SECRET="${hide('long but guessable signing phrase 2024')}"`),
    leak('name:env', `export SESSION_SECRET=${hide(random(64, HEX))}`),
    leak('name:env', `# rotate quarterly\nENCRYPTION_KEY='${hide(random(43, BASE64))}='\n`),
    leak('name:env', `+ export API_TOKEN=${traced}\n+ API_TOKEN=${traced}\n+ ./deploy.sh staging`),
    leak(
      'name:env',
      `SHELL=/bin/bash\nPWD=/srv/app\nRAILS_MASTER_KEY=${hide(random(32, HEX))}\nHOME=/root\nLANG=C.UTF-8`,
    ),
    leak('name:env', `C:\\deploy> set ADMIN_PASS=${hide('Quartz#Lamp77')}`),
    leak('name:env', `$env:SERVICE_SECRET = "${hide(random(28, ALNUM))}"`),
    leak('name:env', `-SMTP_PASSWD=${hide('b1ue-ladder-x')}\n+SMTP_PASSWD=${hide('gr3en-ladder-y')}`),
  ]
}

function containers(): Leak[] {
  return [
    leak(
      'name:container',
      `docker run -d --name pg -e POSTGRES_USER=app -e POSTGRES_PASSWORD=${hide('s3a-Turtle.19')} -p 5432:5432 postgres:17`,
    ),
    leak(
      'name:container',
      `            "Env": [\n                "PATH=/usr/local/bin:/usr/bin:/bin",\n                "MYSQL_ROOT_PASSWORD=${hide(random(20, ALNUM))}",\n                "MYSQL_DATABASE=shop"\n            ],`,
    ),
    leak(
      'name:container',
      `apiVersion: v1\ndata:\n  username: ${base64('admin')}\n  password: ${hide(base64(random(18, PASSWORD)))}\nkind: Secret\nmetadata:\n  name: db-credentials\n  namespace: prod\ntype: Opaque`,
    ),
    leak(
      'name:container',
      `      containers:\n        - name: api\n          env:\n            - name: STORAGE_SECRET_KEY\n              value: "${hide(random(40, ALNUM))}"\n            - name: REGION\n              value: eu-west-1`,
    ),
    leak(
      'name:container',
      `services:\n  grafana:\n    environment:\n      - GF_SECURITY_ADMIN_PASSWORD=${hide('c0pper_Finch!')}\n      - GF_LOG_MODE=console`,
    ),
    leak(
      'name:container',
      `helm upgrade --install redis bitnami/redis --set auth.password=${hide(random(12, ALNUM))} --set replica.replicaCount=2`,
    ),
    leak(
      'name:container',
      `{"auths":{"registry.acme.dev":{"auth":"${hide(base64(`robot$ci:${random(32, ALNUM)}`))}"}}}`,
    ),
    leak(
      'name:container',
      `kubectl create secret generic stripe --from-literal=webhook-secret=${hide(random(32, URL_SAFE))} --from-literal=mode=live`,
    ),
  ]
}

function configFiles(): Leak[] {
  return [
    leak(
      'name:config',
      `[client]\nuser     = backup\npassword = "${hide('semi;colon & q')}"\nhost     = db1`,
    ),
    leak('name:config', `machine nexus.acme.dev login deploy password ${hide(random(15, ALNUM))}`),
    leak('name:config', `db.acme.dev:5432:orders:app:${hide('n0rth-Star-58')}`),
    leak(
      'name:config',
      `spring.datasource.username=app\nspring.datasource.password=${hide('V!olet+Crane3')}\nserver.port=8080`,
    ),
    leak(
      'name:config',
      `spring:\n  mail:\n    host: smtp.acme.dev\n    password: ${hide('two birds one stone')}\n    port: 587`,
    ),
    leak(
      'name:config',
      `[auth.oidc]\nclient_id = "grafana"\nclient_secret = "${hide(random(32, ALNUM))}"\nscopes = ["openid"]`,
    ),
    leak(
      'name:config',
      `define( 'DB_PASSWORD', '${hide('p@ss;w0rd!xK')}' );\ndefine( 'AUTH_KEY',    '${hide('|9-zq{Lw<F&uR8 5t~Qm=Xy')}' );`,
    ),
    leak('name:config', `<add key="ClearTextPassword" value="${hide(random(18, ALNUM))}" />`),
    leak(
      'name:config',
      `<server>\n  <id>releases</id>\n  <username>deployer</username>\n  <password>${hide('Ch3rry-tunnel')}</password>\n</server>`,
    ),
    leak('name:config', `network={\n    ssid="Acme-Office"\n    psk="${hide('espresso at dawn')}"\n}`),
    leak(
      'name:config',
      `ansible_user: ubuntu\nansible_become_pass: ${hide('l4ntern~Moss')}\nansible_python_interpreter: /usr/bin/python3`,
    ),
    leak(
      'name:config',
      `signing:\n  passphrase: |-\n    ${hide('kestrel over quiet water')}\n  algorithm: ed25519`,
    ),
  ]
}

function structuredData(): Leak[] {
  const nested = JSON.stringify({ user: 'bot', apiKey: '@' })
  return [
    leak('name:data', `{"user":"jane","password":"${hide('a\\"quote\\\\slash7')}","remember":true}`),
    leak(
      'name:data',
      `{\n  "clientId": "web",\n  "clientSecret": "${hide(random(36, URL_SAFE))}",\n  "timeoutMs": 3000\n}`,
    ),
    leak(
      'name:data',
      `{"level":"info","msg":"request","body":${JSON.stringify(nested).replace('@', hide(random(32, ALNUM)))}}`,
    ),
    leak(
      'name:data',
      `{"mode":"managed","type":"random_password","instances":[{"attributes":{"bcrypt_hash":null,"length":20,"result":"${hide(random(20, PASSWORD))}"},"sensitive_attributes":[]}]}`,
    ),
    leak(
      'name:data',
      `  + resource "aws_db_instance" "main" {\n      + workflow   = "postgres"\n      + password = "${hide(random(16, ALNUM))}"\n      + username = "root"\n    }`,
    ),
    leak('name:data', `{'host': 'db', 'port': 5432, 'user': 'app', 'password': '${hide('mar1gold-Bay')}'}`),
    leak(
      'name:data',
      `Parameters: {:user=>{:email=>"jane@acme.dev", :password=>"${hide('sunny-Otter-31')}"}, :commit=>"Sign in"}`,
    ),
    leak(
      'name:data',
      `&{Host:smtp.acme.dev Port:587 Username:mailer Password:${hide('0live-Barn-22')} TLS:true}`,
    ),
    leak('name:data', `Config { host: "db", password: Some("${hide('ember_Tide_904')}"), pool: 5 }`),
    leak('name:data', `LoginRequest[username=jane, password=${hide('wav3-Gravel-q')}, otp=null]`),
    leak(
      'name:data',
      `{"query":"mutation Login($p: String!) { login(password: $p) { id } }","variables":{"p":"x","authToken":"${hide(random(44, URL_SAFE))}"}}`,
    ),
    leak('name:data', `username=jane%40acme.dev&password=${hide('t%26ea-Kettle%21x')}&csrf=1`),
    leak('name:data', `<input type="hidden" name="api_secret" value="${hide(random(32, LOWER_ALNUM))}">`),
  ]
}

function commandLines(): Leak[] {
  return [
    leak('name:command', `backupctl restore --user ops --password '${hide('two words')}' --verbose`),
    leak('name:command', `mysql -h db1 -u root -p${hide('Secr3tHorse!')} shop -e 'select 1'`),
    leak('name:command', `PGPASSWORD=${hide('c4lm-Reef.7')} psql -h db -U app -c '\\dt'`),
    leak(
      'name:command',
      `sshpass -p '${hide('D0g $ cat & bird')}' ssh -o StrictHostKeyChecking=no root@10.0.0.5`,
    ),
    leak(
      'name:command',
      `curl -u jenkins:${hide(random(34, HEX))} -X POST https://ci.acme.dev/job/app/build`,
    ),
    leak('name:command', `http POST api.acme.dev/items "X-Auth-Key: ${hide(random(37, HEX))}" name=box`),
    leak(
      'name:command',
      `openssl pkcs12 -in cert.p12 -nodes -passin pass:${hide('lark-Spur-66x')} -out cert.pem`,
    ),
    leak(
      'name:command',
      `ldapsearch -x -D cn=admin,dc=acme,dc=dev -w ${hide('h0neyComb_5')} -b dc=acme,dc=dev`,
    ),
    leak('name:command', `redis-cli -h cache -a ${hide(random(24, ALNUM))} ping`),
    leak(
      'name:command',
      `keytool -genkeypair -alias app -keystore app.jks -storepass ${hide('ce4darWood9')} -keypass ${hide('bir7chWood2')}`,
    ),
    leak('name:command', `echo 'deploy:${hide('f1eld-Mouse-z')}' | chpasswd`),
    leak('name:command', `ALTER USER app WITH PASSWORD '${hide("o''Malley-77rq")}';`),
    leak('name:command', `CREATE USER 'shop'@'%' IDENTIFIED BY '${hide('st4rling:Nest')}';`),
  ]
}

function logLines(): Leak[] {
  const colored = random(40, ALNUM)
  return [
    leak(
      'name:log',
      `2026-02-11 09:12:44,120 WARN login failed user=admin password=${hide('w1llow.Bark7')} ip=10.1.1.9`,
    ),
    leak(
      'name:log',
      `{"level":"info","time":1770800000,"token":"${hide(random(40, URL_SAFE))}","msg":"session refreshed"}`,
    ),
    leak(
      'name:log',
      `ts=2026-02-11T09:12:44Z caller=auth.go:88 secret="${hide('paper lantern 88')}" err=null`,
    ),
    leak(
      'name:log',
      `\u001b[36mapi-key\u001b[0m=\u001b[33m${hide(random(32, ALNUM))}\u001b[0m \u001b[2mregion=eu\u001b[0m`,
    ),
    leak('name:log', `auth-token: ${hide(colored.slice(0, 20))}\u001b[1m${hide(colored.slice(20))}\u001b[0m`),
    leak(
      'name:log',
      `Uploading  42%\rUploading 100%\rupload done, upload_token=${hide(random(26, LOWER_ALNUM))}\r\n`,
    ),
    leak(
      'name:log',
      `[Seed] created service account ci-bot with access key ${hide(random(20, ALNUM))} and secret key ${hide(random(40, ALNUM))}`,
    ),
  ]
}

function screens(): Leak[] {
  return [
    leak('name:screen', `Username: admin\nPassword: ${hide('hunter2horse')}\nLogin successful`),
    leak(
      'name:screen',
      `| name | value |\n| --- | --- |\n| db_password | \`${hide('v3lvet-Anchor')}\` |\n| db_port | 5432 |`,
    ),
    leak('name:screen', `The admin password is "${hide('Überfluß-Ж7к')}" — change it after the first login.`),
    leak(
      'name:screen',
      `Your new API key: <${hide(random(40, LOWER_ALNUM))}>\nStore it now, it is shown only once.`,
    ),
  ]
}
