# Installs the command svc, which publishes what runs on this machine, from the relay
# https://relay.example. It needs no administrator, and upgrades svc when it runs again.
#
#   irm https://relay.example/api/install.ps1 | iex
#   & ([scriptblock]::Create((irm https://relay.example/api/install.ps1))) -Uninstall
#
# $env:HTTPS_PROXY and $env:NO_PROXY are obeyed. $env:SVC_INSTALL_DIR names another directory than $env:LOCALAPPDATA\Programs\svc. $env:SVC_UNINSTALL = 1 uninstalls, too.
param([switch]$Uninstall, [switch]$Force)

# What differs by relay. The sums are the SHA-256 of each download.
$Relay = 'https://relay.example'
$Release = '0.0.0'
$NodeMajorMin = 24
$Sums = @{
}

function Install-Svc([bool]$Uninstall, [bool]$Force) {
  $ErrorActionPreference = 'Stop'
  if ($env:OS -ne 'Windows_NT') { throw "svc: This script is for Windows. Elsewhere: curl -fsSL $Relay/api/install.sh | sh" }
  $Directory = $env:SVC_INSTALL_DIR
  if (-not $Directory) { $Directory = Join-Path $env:LOCALAPPDATA 'Programs\svc' }
  $Directory = [IO.Path]::GetFullPath($Directory)
  if ($Uninstall) { Remove-Svc $Directory; return }

  $Installed = Get-SvcVersion $Directory
  if (-not $Force) { Assert-Ours $Directory $Installed }
  if ($Installed -and -not $Force) {
    if ($Installed -eq $Release) {
      Write-Host "svc $Installed is installed already: $Directory"
      Show-Next $Directory
      return
    }
    if (Test-Newer $Installed $Release) {
      Write-Host "svc $Installed is installed, and $Relay offers the older $($Release): -Force would replace it."
      Show-Next $Directory
      return
    }
  }
  $Download = Select-Download
  $Temporary = Join-Path $Directory ('.install-' + [IO.Path]::GetRandomFileName())
  $IsNew = -not (Test-Path -LiteralPath $Directory)
  try {
    New-Item -ItemType Directory -Force -Path $Temporary | Out-Null
    Write-Host "Downloading svc $Release for $Download from $Relay"
    $Packed = Join-Path $Temporary 'download.gz'
    Receive-File "$Relay/api/install/bin/$Download.gz" $Packed
    $Actual = (Get-FileHash -Algorithm SHA256 -LiteralPath $Packed).Hash.ToLowerInvariant()
    if ($Actual -ne $Sums[$Download]) {
      throw "svc: The download is not what $Relay announced: its SHA-256 is $Actual, and $($Sums[$Download]) was expected. Run this again."
    }
    $File = 'svc.exe'
    if ($Download -eq 'node') { $File = 'svc.mjs' }
    Expand-Gzip $Packed (Join-Path $Temporary $File)
    if ($Download -eq 'node') {
      Set-Content -LiteralPath (Join-Path $Temporary 'svc.cmd') -Encoding ASCII -Value '@node "%~dp0svc.mjs" %*'
    }
    $Version = Get-SvcVersion $Temporary
    if (-not $Version) { throw 'svc: The download does not run on this machine. Nothing was installed.' }
    Move-Svc $Temporary $Directory $Download
    $IsNew = $false
  } finally {
    Remove-Item -Recurse -Force -LiteralPath $Temporary -ErrorAction SilentlyContinue
    if ($IsNew) { Remove-Item -LiteralPath $Directory -ErrorAction SilentlyContinue }
  }
  if ($Installed) { Write-Host "svc was upgraded from $Installed to $($Version): $Directory" }
  else { Write-Host "svc $Version is installed: $Directory" }
  Add-ToPath $Directory
  Show-Next $Directory
}

# Returns the version of the svc in a directory; nothing if none there runs.
function Get-SvcVersion([string]$Directory) {
  foreach ($Name in 'svc.exe', 'svc.cmd') {
    $Program = Join-Path $Directory $Name
    if (-not (Test-Path -LiteralPath $Program)) { continue }
    try { $Version = "$(& $Program --version)".Trim() } catch { continue }
    if ($Version -match '^\d+\.\d+\.\d+[0-9A-Za-z.+-]*$') { return $Version }
  }
}

# Another program is never replaced or removed; an svc without its Node is.
function Assert-Ours([string]$Directory, [string]$Version) {
  $Program = Join-Path $Directory 'svc.exe'
  if (-not $Version -and (Test-Path -LiteralPath $Program)) {
    throw "svc: $Program is another program, or does not run. Name another directory in SVC_INSTALL_DIR."
  }
}

function Test-Newer([string]$One, [string]$Other) {
  [version]($One -replace '[+-].*$') -gt [version]($Other -replace '[+-].*$')
}

# Returns "node" for the bundle, else the platform of an executable.
function Select-Download {
  if ($Sums.Count -eq 0) {
    throw "svc: $Relay has no downloads of svc. Its operator can make them with 'npm run binaries', or name a directory that has them in SVC_INSTALL_DIR."
  }
  if ($Sums.ContainsKey('node') -and (Test-Node)) { return 'node' }
  $Machine = $env:PROCESSOR_ARCHITEW6432
  if (-not $Machine) { $Machine = $env:PROCESSOR_ARCHITECTURE }
  $Platform = 'windows-' + "$Machine".ToLowerInvariant()
  if ($Sums.ContainsKey($Platform)) { return $Platform }
  throw "svc: $Relay has no executable for $Platform. Where Node $NodeMajorMin or newer is in PATH, svc runs on that: install it, then run this again."
}

function Test-Node {
  try { $Version = "$(& node --version)" } catch { return $false }
  ($Version -match '^v(\d+)\.') -and ([int]$Matches[1] -ge $NodeMajorMin)
}

# Downloads a URL to a file, and resumes for as long as data arrives.
function Receive-File([string]$Url, [string]$Path) {
  $Failures = 0
  while ($true) {
    $Had = 0
    if (Test-Path -LiteralPath $Path) { $Had = (Get-Item -LiteralPath $Path).Length }
    try {
      Receive-Rest $Url $Path $Had
      return
    } catch {
      $Problem = $_.Exception
      while ($Problem.InnerException -and $Problem -isnot [Net.WebException]) { $Problem = $Problem.InnerException }
      $Status = 0
      if ($Problem -is [Net.WebException] -and $Problem.Response) { $Status = [int]$Problem.Response.StatusCode }
      if ($Status -eq 416) { return }
      if ($Status -ge 400 -and $Status -lt 500 -and $Status -ne 429) {
        throw "svc: $Relay answered with $($Status): $Url. Nothing was installed; run this again, for the relay may have changed meanwhile."
      }
      if ($Problem -is [UnauthorizedAccessException]) { throw }
    }
    if ((Test-Path -LiteralPath $Path) -and (Get-Item -LiteralPath $Path).Length -gt $Had) { $Failures = 0 }
    $Failures += 1
    if ($Failures -gt 3) { throw "svc: The download broke off: $($Problem.Message) Nothing was installed; run this again later." }
    Start-Sleep -Seconds $Failures
  }
}

# Windows PowerShell knows only the proxy of the system settings. HTTPS_PROXY comes first, except for the hosts in NO_PROXY.
function Set-Proxy([Net.HttpWebRequest]$Request) {
  if (-not $env:HTTPS_PROXY) { return }
  foreach ($Entry in "$env:NO_PROXY" -split '[\s,]+') {
    $Name = $Entry.ToLowerInvariant() -replace '^\*?\.', '' -replace ':\d+$', ''
    if ($Name -eq '*' -or $Request.Host -eq $Entry -or ($Name -and ".$($Request.RequestUri.Host)".EndsWith(".$Name"))) { return }
  }
  $Address = [Uri]$env:HTTPS_PROXY
  $Proxy = New-Object Net.WebProxy $Address
  if ($Address.UserInfo) {
    $Name, $Password = $Address.UserInfo -split ':', 2 | ForEach-Object { [Uri]::UnescapeDataString($_) }
    $Proxy.Credentials = New-Object Net.NetworkCredential $Name, $Password
  }
  $Request.Proxy = $Proxy
}

function Receive-Rest([string]$Url, [string]$Path, [long]$Had) {
  $Request = [Net.HttpWebRequest][Net.WebRequest]::Create($Url)
  $Request.Timeout = 30000
  $Request.ReadWriteTimeout = 30000
  if ($Had -gt 0) { $Request.AddRange($Had) }
  Set-Proxy $Request
  $Response = $Request.GetResponse()
  try {
    $Mode = [IO.FileMode]::Create
    if ([int]$Response.StatusCode -eq 206) { $Mode = [IO.FileMode]::Append }
    $Output = New-Object IO.FileStream $Path, $Mode
    try { $Response.GetResponseStream().CopyTo($Output) } finally { $Output.Dispose() }
  } finally {
    $Response.Dispose()
  }
}

function Expand-Gzip([string]$Packed, [string]$Path) {
  $Source = [IO.File]::OpenRead($Packed)
  try {
    $Plain = New-Object IO.Compression.GZipStream $Source, ([IO.Compression.CompressionMode]::Decompress)
    $Output = [IO.File]::Create($Path)
    try { $Plain.CopyTo($Output) } finally { $Output.Dispose(); $Plain.Dispose() }
  } finally {
    $Source.Dispose()
  }
}

# Windows cannot overwrite a running program, but it can rename it.
function Move-Svc([string]$Temporary, [string]$Directory, [string]$Download) {
  Get-ChildItem -LiteralPath $Directory -Filter 'svc.exe.old-*' | Remove-Item -Force -ErrorAction SilentlyContinue
  $Running = Join-Path $Directory 'svc.exe'
  $Old = $Running + '.old-' + [IO.Path]::GetRandomFileName()
  if (Test-Path -LiteralPath $Running) { Move-Item -LiteralPath $Running -Destination $Old }
  try {
    if ($Download -eq 'node') {
      Move-Item -Force -LiteralPath (Join-Path $Temporary 'svc.mjs') -Destination (Join-Path $Directory 'svc.mjs')
      Move-Item -Force -LiteralPath (Join-Path $Temporary 'svc.cmd') -Destination (Join-Path $Directory 'svc.cmd')
    } else {
      Move-Item -LiteralPath (Join-Path $Temporary 'svc.exe') -Destination $Running
      foreach ($Name in 'svc.cmd', 'svc.mjs') {
        Remove-Item -Force -LiteralPath (Join-Path $Directory $Name) -ErrorAction SilentlyContinue
      }
    }
  } catch {
    if (Test-Path -LiteralPath $Old) { Move-Item -Force -LiteralPath $Old -Destination $Running }
    throw
  }
  Remove-Item -Force -LiteralPath $Old -ErrorAction SilentlyContinue
}

function Remove-Svc([string]$Directory) {
  $Files = @('svc.exe', 'svc.cmd', 'svc.mjs' | ForEach-Object { Join-Path $Directory $_ } | Where-Object { Test-Path -LiteralPath $_ })
  if ($Files.Count -eq 0) { Write-Host "There is no svc in $Directory."; return }
  Assert-Ours $Directory (Get-SvcVersion $Directory)
  $Files | ForEach-Object { Remove-Item -Force -LiteralPath $_ }
  if (-not (Get-ChildItem -Force -LiteralPath $Directory)) { Remove-Item -LiteralPath $Directory }
  $Entries = @(Get-UserPath)
  if ($Entries -contains $Directory) { Set-UserPath @($Entries | Where-Object { $_ -ne $Directory }) }
  Write-Host "svc is gone from $Directory. Its identity stays in $(Join-Path $HOME '.config\svc')."
}

# The entries of the user's PATH, with their variables unexpanded.
function Get-UserPath {
  $Value = (Get-Item 'HKCU:\Environment').GetValue('Path', '', 'DoNotExpandEnvironmentNames')
  $Value -split ';' | Where-Object { $_ }
}

function Set-UserPath([string[]]$Entries) {
  Set-ItemProperty -Path 'HKCU:\Environment' -Name Path -Type ExpandString -Value ($Entries -join ';')
  # A variable that is set and removed tells running programs that the environment changed.
  $Name = 'SVC_' + [Guid]::NewGuid()
  [Environment]::SetEnvironmentVariable($Name, '1', 'User')
  [Environment]::SetEnvironmentVariable($Name, $null, 'User')
}

function Add-ToPath([string]$Directory) {
  if (($env:Path -split ';') -contains $Directory) { return }
  $Entries = @(Get-UserPath)
  if ($Entries -notcontains $Directory) { Set-UserPath ($Entries + $Directory) }
  $env:Path = "$env:Path;$Directory"
  Write-Host "$Directory is in your PATH now; terminals that are open already have to be opened again."
}

function Show-Next([string]$Directory) {
  $Command = 'svc'
  $First = Get-Command svc -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
  if ($First -and (Split-Path $First.Source) -ne $Directory) {
    Write-Host "Another svc comes first in PATH: $($First.Source)"
    $Command = '& "' + (Join-Path $Directory 'svc') + '"'
  }
  $Authority = ''
  if ($env:SVC_CA) { $Authority = ' --ca "' + $env:SVC_CA + '"' }
  Write-Host 'To publish what listens on port 3000 of this machine:'
  Write-Host "  $Command expose 3000 --relay $Relay$Authority"
}

Install-Svc ($Uninstall -or [bool]$env:SVC_UNINSTALL) ([bool]$Force)
