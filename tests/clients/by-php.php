<?php
// Uses the client that OpenAPI Generator generates.

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $prefix = 'OpenAPI\\Client\\';
    if (str_starts_with($class, $prefix)) {
        require getenv('GENERATED') . '/' . str_replace('\\', '/', substr($class, strlen($prefix))) . '.php';
    }
});

use OpenAPI\Client\Api\{AuthApi, ContentApi, EmailsApi, UsersApi};
use OpenAPI\Client\{ApiException, Configuration};
use OpenAPI\Client\Model\{OutboxPatch, ProductErrorCode, SignUp, SimpleStatus, UserOrder, UserPatch};

// A notice of the interpreter is a failure, too.
set_error_handler(function (int $level, string $message): bool {
    throw new Exception($message);
});

function caller(string $level, ?string $token = null): Configuration
{
    $kind = ['client' => 'Publishable-Client-Key', 'server' => 'Secret-Server-Key'][$level];
    $configuration = (new Configuration())->setHost(getenv('URL'));
    $configuration->setApiKey('X-Service-Access-Type', $level)->setApiKey('X-Service-Project-Id', getenv('PROJECT'));
    $configuration->setApiKey("X-Service-$kind", getenv(strtoupper($level) . '_KEY'));
    return $token === null ? $configuration : $configuration->setApiKey('X-Service-Access-Token', $token);
}

function expect(bool $condition, mixed $otherwise): void
{
    $condition || throw new Exception(print_r($otherwise, true));
}

/** The code of the error that a call ends with. */
function code(callable $call): ?string
{
    try {
        $call();
        return null;
    } catch (ApiException $error) {
        return $error->getResponseObject()->getCode();
    }
}

// Otherwise, true is 1 in a query.
Configuration::getDefaultConfiguration()->setBooleanFormatForQueryString(Configuration::BOOLEAN_FORMAT_STRING);

$address = getenv('ADDRESS');
[$client, $server] = [caller('client'), caller('server')];
$signUp = new SignUp(['email' => $address, 'password' => 'correct horse battery', 'verification_callback_url' => 'http://localhost:3000/verify']);
$auth = new AuthApi(null, $client);
$signedUp = $auth->authPasswordSignUp($signUp);
expect(code(fn () => $auth->authPasswordSignUp($signUp)) === ProductErrorCode::USER_EMAIL_ALREADY_EXISTS, 'no error');

$listed = (new UsersApi(null, $server))->usersUserList(limit: 10, order_by: UserOrder::SIGNED_UP_AT, desc: true);
$found = array_filter($listed->getItems(), fn ($user) => $user->getId() === $signedUp->getUserId() && $user->getPrimaryEmail() === $address);
expect(count($found) === 1, $listed);

$own = new UsersApi(null, caller('client', $signedUp->getAccessToken()));
$patched = $own->usersMeUpdate(new UserPatch(['display_name' => 'Ada']));
expect($patched->getDisplayName() === 'Ada', $patched);

$emails = new EmailsApi(null, $server);
for ($tries = 0; $tries < 100; $tries++) {
    $outbox = $emails->emailsOutboxList(limit: 10, simple_status: SimpleStatus::OK)->getItems();
    if ($outbox) {
        break;
    }
    usleep(100_000);
}
expect($outbox[0]->getRenderedAtMillis() > 0 && $outbox[0]->getSubject() !== '', $outbox);
$edit = fn () => $emails->emailsOutboxUpdate($outbox[0]->getId(), outbox_patch: new OutboxPatch(['is_paused' => true]));
expect(code($edit) === ProductErrorCode::EMAIL_NOT_EDITABLE, 'no error');

$page = (new ContentApi(null, $client))->contentGetPostPage('hello');
expect(str_starts_with($page, '<!DOCTYPE html>'), $page);
