USE [Shop]
GO
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
IF OBJECT_ID(N'[dbo].[Customers]', N'U') IS NOT NULL DROP TABLE [dbo].[Customers];
GO
CREATE TABLE [dbo].[Customers](
	[CustomerID] [int] IDENTITY(1,1) NOT NULL,
	[Email] [nvarchar](256) NOT NULL,
	[Notes] [nvarchar](max) NULL,
	[Balance] [money] NULL,
	[Rating] [decimal](5, 2) NULL CONSTRAINT [CK_Rating] CHECK ([Rating]>=(0)),
	[CreatedAt] [datetime2](7) NOT NULL CONSTRAINT [DF_Created] DEFAULT (getdate()),
	[IsActive] [bit] NOT NULL DEFAULT ((1)),
	[RowGuid] [uniqueidentifier] ROWGUIDCOL NOT NULL DEFAULT (newid()),
	[Photo] [varbinary](max) NULL,
	[Ver] [timestamp] NOT NULL,
 CONSTRAINT [PK_Customers] PRIMARY KEY CLUSTERED ([CustomerID] ASC) WITH (PAD_INDEX = OFF, IGNORE_DUP_KEY = OFF) ON [PRIMARY]
) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]
GO
CREATE TABLE dbo.Orders (
  OrderID BIGINT NOT NULL PRIMARY KEY NONCLUSTERED,
  CustomerID INT NOT NULL FOREIGN KEY REFERENCES dbo.Customers (CustomerID),
  Status VARCHAR(10) NOT NULL CHECK (Status IN ('open','paid')),
  Total AS (Price * Quantity) PERSISTED,
  Price SMALLMONEY, Quantity TINYINT,
  INDEX IX_Status NONCLUSTERED (Status)
);
GO
ALTER TABLE [dbo].[Orders] WITH CHECK ADD CONSTRAINT [FK_x] FOREIGN KEY([CustomerID]) REFERENCES [dbo].[Customers] ([CustomerID]) ON DELETE CASCADE
GO
ALTER TABLE [dbo].[Orders] CHECK CONSTRAINT [FK_x]
GO
EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'Customers of the shop', @level0type=N'SCHEMA',@level0name=N'dbo', @level1type=N'TABLE',@level1name=N'Customers'
GO
CREATE NONCLUSTERED INDEX [IX] ON [dbo].[Orders] ([Status]) INCLUDE ([Price])
GO
CREATE PROCEDURE dbo.GetOrders @id INT AS
BEGIN
  SELECT * FROM dbo.Orders WHERE OrderID = @id;
END
GO
